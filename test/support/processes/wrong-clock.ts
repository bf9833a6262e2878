import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../payments/paying';

/** Shifts the wall clock of a process and its children. SIGUSR2 reloads the shift. */
const SCRIPT = `
  const { readFileSync, writeFileSync } = require('node:fs');
  const file = FILE;
  let shift = Number(readFileSync(file, 'utf8'));
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, self) =>
      Reflect.construct(target, args.length > 0 ? args : [target.now() + shift], self),
    get: (target, name) => (name === 'now' ? () => target.now() + shift : Reflect.get(target, name)),
  });
  process.on('SIGUSR2', () => {
    shift = Number(readFileSync(file, 'utf8'));
    writeFileSync(file + '.read', String(shift));
  });`;

/** A process's wall clock that a test can set. */
export class WrongClock {
  private readonly script: string;
  private readonly file: string;

  /** @param dir the test's own folder. */
  constructor(dir: string, name: string, shiftMs: number) {
    this.file = join(dir, name);
    this.script = `${this.file}.cjs`;
    writeFileSync(this.file, String(shiftMs));
    writeFileSync(this.script, SCRIPT.replace('FILE', JSON.stringify(this.file)));
  }

  /** The environment of a process with this clock. */
  get env(): { NODE_OPTIONS: string } {
    return { NODE_OPTIONS: `--require ${this.script}` };
  }

  /**
   * Sets the clock of a running process. Resolves once the process shows the new time.
   * @param signal sends a signal to the process.
   */
  async set(shiftMs: number, signal: (name: 'SIGUSR2') => unknown): Promise<void> {
    const read = `${this.file}.read`;
    rmSync(read, { force: true });
    writeFileSync(this.file, String(shiftMs));
    signal('SIGUSR2');
    await eventually(() => existsSync(read) && readFileSync(read, 'utf8') === String(shiftMs));
  }
}
