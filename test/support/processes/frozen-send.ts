import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const UNDICI = require.resolve('undici', { paths: [resolve(__dirname, '..', '..', '..')] });

/** Makes a process stop itself right before it sends a POST, after all its checks. */
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

/** Below the timeout of a call. */
const MAX_POLLS = 100;
const POLL_MS = 10;

/** Freezes a process between the admission of a call and its first byte. */
export class FrozenSend {
  private readonly script: string;
  private readonly file: string;

  /** @param dir the test's own folder. */
  constructor(dir: string, name: string) {
    this.file = join(dir, `${name}-frozen`);
    this.script = `${this.file}.cjs`;
    writeFileSync(this.script, SCRIPT.replaceAll('FILE', JSON.stringify(this.file)));
  }

  /** Node option for a process to freeze. */
  get option(): string {
    return `--require ${this.script}`;
  }

  /**
   * Resolves once the process is frozen, or after a while without a send. Freeze it anyway, because it may
   * send just then.
   */
  async next(): Promise<void> {
    writeFileSync(this.file, '');
    for (let polls = 0; polls < MAX_POLLS && existsSync(this.file); polls += 1) await sleep(POLL_MS);
    rmSync(this.file, { force: true });
  }
}
