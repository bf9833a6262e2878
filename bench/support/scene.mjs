/**
 * Provides what every measurement under load needs: a Postgres, an upstream and a load generator, all of which end with
 * it.
 */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { startPostgres } from './postgres.mjs';
import { startNode } from './processes.mjs';

const LOAD = join(import.meta.dirname, '..', 'load');

/**
 * @param work gets {postgres, upstream, ask, place, end}. `ask` runs one round of the load generator (see
 * load/client.mjs). `place` gives a contestant its database, folder and log. `end` registers functions that stop
 * something, called in reverse order.
 * @param keep see `startPostgres`.
 */
export async function withScene(work, { keep } = {}) {
  const stops = [];
  const end = (stop) => stops.push(stop);
  try {
    const postgres = await startPostgres({ keep });
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
    return await work({ postgres, upstream, place, end, ask: (round) => askOnce(load, round) });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
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
