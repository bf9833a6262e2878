import { onStop } from '../app/start/stop'; // first, because it remembers the npm that runs this process
import { INestApplicationContext, Logger } from '@nestjs/common';
import { afterStart, startSmall } from '../app/start/memory';
import { logKeyOf, logRingOf } from '../history/log/log-key';
import { Config, loadConfig, RunningConfig, StartError } from '../platform/config/config';
import { outliveReaders } from '../platform/logging/log-output';
import { prepareDatabase } from '../platform/database/prepare-database';

/** Runs a worker as a process of its own. With an IPC channel, it ends when its parent does. */

/** What is not done by then is done by the next worker. */
const STOP_DEADLINE_MS = 5_000;

async function run(): Promise<void> {
  outliveReaders();
  startSmall();
  const starting = start();
  const stop = () => {
    setTimeout(() => process.exit(0), STOP_DEADLINE_MS).unref();
    starting.then((worker) => worker.close()).then(() => process.exit(0), fail);
  };
  onStop(stop);
  process.once('disconnect', stop);
  await starting;
}

async function start(): Promise<INestApplicationContext> {
  const config = loadConfig();
  const settings = settingsOf(config);
  const isAlone = process.send === undefined; // beside a proxy, it has the proxy's configuration
  // Hundreds of modules, loaded only once the configuration is known to be sound.
  const [{ createWorker }, { serveProbes }, { recordConfiguration }, { requireLogKeys }] = await Promise.all([
    import('./worker.js'),
    import('./probes.js'),
    import('../app/start/record-configuration.js'),
    import('../history/log/log-key-check.js'),
  ]);
  await prepareDatabase(settings, settings.migrateOnStart);
  if (config.logSigningKey) await requireLogKeys(settings.databaseUrl, logRingOf(settings));
  const worker = await createWorker(settings);
  if (isAlone) await recordConfiguration(worker, 'worker', settings.recorded);
  afterStart();
  const { url } = await serveProbes(worker, settings);
  new Logger('Worker').log({ url }, 'worker is ready');
  return worker;
}

/** @throws StartError without a database and an upstream, because a worker starts neither. */
function settingsOf(config: Config): RunningConfig {
  const { databaseUrl, databaseOwnerUrl = databaseUrl, upstreamBaseUrl, upstreamApiKey } = config;
  if (!databaseUrl || !databaseOwnerUrl || !upstreamBaseUrl || !upstreamApiKey) {
    throw new StartError(
      'a worker needs DATABASE_URL, UPSTREAM_BASE_URL and UPSTREAM_API_KEY. Without them, npm start runs one beside the proxy.',
    );
  }
  const given = { databaseUrl, databaseOwnerUrl, upstreamBaseUrl, upstreamApiKey };
  return Object.freeze({ ...config, ...given, logSigningKey: logKeyOf(config), embeddedSandbox: undefined });
}

function fail(error: unknown): never {
  const { name, code } = error as { name?: string; code?: string };
  const reason = error instanceof StartError ? error.message : `unexpected ${[name, code].filter(Boolean).join(' ')}`;
  process.stderr.write(`payout-proxy worker: ${reason}\n`);
  process.exit(1);
}

run().catch(fail);
