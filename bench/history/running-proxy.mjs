import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from '../support/free-port.mjs';

/** Starts the proxy on DATA_DIR or DATABASE_URL, as in production, on any port. */
export async function startProxy() {
  const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
  const workerPort = await freePort();
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'warn', WORKER_PORT: String(workerPort) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise((resolve, reject) => {
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
      const found = /Proxy\s+(http:\S+)/.exec(said);
      if (found) resolve(found[1]);
    });
    ended.then(() => reject(new Error('the proxy did not start')));
  });
  return {
    url,
    /** It is there some time later. */
    workerUrl: `http://127.0.0.1:${workerPort}`,
    pid: child.pid,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
