import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const UNDICI = require.resolve('undici', { paths: [resolve(__dirname, '..', '..', '..')] });

/** Lets a process stop itself when it is about to send a POST, after everything that it checked before. */
const SCRIPT = `
  const { unlinkSync } = require('node:fs');
  const { Pool } = require(${JSON.stringify(UNDICI)});
  const { dispatch } = Pool.prototype;
  const isAsked = () => {
    try {
      unlinkSync(FILE);
      return true;
    } catch {
      return false;
    }
  };
  Pool.prototype.dispatch = function (request, handler) {
    if (request.method === 'POST' && isAsked()) process.kill(process.pid, 'SIGSTOP');
    return dispatch.call(this, request, handler);
  };`;

/** Less than a call may wait. */
const MAX_POLLS = 100;
const POLL_MS = 10;

/** Freezes a process between the admission of a call and its first byte. */
export class FrozenSend {
  private readonly script: string;
  private readonly file: string;

  /** @param dir a folder of the test's own. */
  constructor(dir: string, name: string) {
    this.file = join(dir, `${name}-frozen`);
    this.script = `${this.file}.cjs`;
    writeFileSync(this.script, SCRIPT.replaceAll('FILE', JSON.stringify(this.file)));
  }

  /** An option of Node for a process that can be frozen so. */
  get option(): string {
    return `--require ${this.script}`;
  }

  /** Resolves once the process is frozen, or if it sends nothing for a while. Freeze it nevertheless: it may do so just then. */
  async next(): Promise<void> {
    writeFileSync(this.file, '');
    for (let polls = 0; polls < MAX_POLLS && existsSync(this.file); polls += 1) await sleep(POLL_MS);
    rmSync(this.file, { force: true });
  }
}
