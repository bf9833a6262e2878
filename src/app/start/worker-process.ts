import { ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunningConfig } from '../../platform/config/config';

/** The wait before an ended worker is started again. It doubles while workers end soon. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** Lifetime after which a worker's end has nothing to do with its start. */
const LIVED_MS = 60_000;

/** Time limit of a worker's stop, before it is killed. Nothing is lost: another worker continues its work. */
const STOP_TIMEOUT_MS = 6_000;

export interface RunningWorker {
  stop(): Promise<void>;
}

/** Starts a worker as a separate process, and restarts it whenever it ends. Does not wait for it. */
export function startWorker(settings: RunningConfig): RunningWorker {
  const stopped = new AbortController();
  let child = launch(settings);
  const keeping = keep();
  return { stop };

  async function keep(): Promise<void> {
    let wait = FIRST_WAIT_MS;
    for (;;) {
      const startedAt = performance.now();
      const how = await ended(child);
      if (stopped.signal.aborted) return;
      if (performance.now() - startedAt > LIVED_MS) wait = FIRST_WAIT_MS;
      process.stderr.write(`payout-proxy: the worker has stopped (${how}). Another one is started.\n`);
      await sleep(wait, undefined, { signal: stopped.signal }).catch(() => undefined); // the stop wakes it
      if (stopped.signal.aborted) return;
      child = launch(settings);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    }
  }

  async function stop(): Promise<void> {
    stopped.abort();
    child.kill('SIGTERM');
    child.kill('SIGCONT'); // a stopped process cannot receive the first signal
    const killing = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await keeping;
    clearTimeout(killing);
  }
}

/**
 * Launches a worker with the environment of the proxy, files of secrets included. The addresses of what the
 * proxy itself started replace those files.
 */
function launch(settings: RunningConfig): ChildProcess {
  return fork(join(__dirname, '..', '..', 'worker', 'main.js'), {
    // Ctrl-C reaches the proxy first, which finishes requests in flight and then stops the worker
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      ...process.env,
      npm_lifecycle_event: undefined, // it watches this process, and not npm
      DATABASE_URL: settings.databaseUrl,
      DATABASE_URL_FILE: '',
      DATABASE_OWNER_URL: settings.databaseOwnerUrl,
      DATABASE_OWNER_URL_FILE: '',
      UPSTREAM_BASE_URL: settings.upstreamBaseUrl,
      ...(!settings.secretFiles.has('UPSTREAM_API_KEY') && {
        UPSTREAM_API_KEY: settings.upstreamApiKey.reveal(),
      }),
      // The disk of the embedded Postgres can be seen, so nothing is reserved there.
      ...(settings.databaseDirectory !== undefined && { DATABASE_RESERVE_MB: '0' }),
      RESOLVER_PROBE_EMAIL: settings.resolverProbeEmail,
      WORKER_PORT: String(settings.workerPortGiven ? settings.workerPort : 0),
    },
  });
}

async function ended(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null)
    await new Promise((resolve) => child.once('exit', resolve));
  return child.signalCode ?? `exit code ${child.exitCode}`;
}
