/**
 * Provides the parts of every measurement under load: a Postgres, an upstream and a load generator. All end
 * with it, even if it is interrupted.
 */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { startPostgres } from './postgres.mjs';
import { familyOf, startNode } from './processes.mjs';

const LOAD = join(import.meta.dirname, '..', 'load');

/**
 * @param work gets {postgres, upstream, ask, place, end}. `ask` runs one round of the load generator (see
 * load/client.mjs). `place` gives a contestant its database, folder and log. `end` registers functions that
 * stop something, called in reverse order.
 * @param keep, settings see `startPostgres`.
 */
export async function withScene(work, { keep, settings } = {}) {
  const stops = [];
  const end = (stop) => stops.push(stop);
  const interrupted = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve(signal));
  }).then((signal) => {
    process.stderr.write(`\nended by ${signal}\n`);
    process.exitCode = 1;
  });
  try {
    const postgres = await startPostgres({ keep, settings });
    end(postgres.stop);
    const upstream = await startNode(join(LOAD, 'upstream.mjs'), { ipc: true });
    end(upstream.stop);
    const load = fork(join(LOAD, 'client.mjs'));
    end(() => load.kill());
    const place = async (name) => ({
      databaseUrl: await postgres.createDatabase(name),
      upstreamUrl: upstream.url,
      dataDir: join(postgres.dataDir, name),
      logFile: join(postgres.dataDir, `${name}.log`),
    });
    const ask = (round) => askOnce(load, round);
    return await Promise.race([work({ postgres, upstream, place, end, ask }), interrupted]);
  } finally {
    for (const stop of stops.reverse()) await stop();
    if (process.exitCode !== undefined) endStarting();
  }
}

/** Ends processes that were still starting when the benchmark was interrupted. */
function endStarting() {
  for (const pid of familyOf(process.pid).slice(1)) process.kill(pid, 'SIGTERM');
  process.exit();
}

function askOnce(load, round) {
  return new Promise((resolve, reject) => {
    load.once('exit', () => reject(new Error('the load generator ended')));
    load.once('message', (result) => {
      load.removeAllListeners('exit');
      resolve(result);
    });
    load.send(round);
  });
}
