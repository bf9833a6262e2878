import '../platform/modules/of-the-build'; // first, because it loads the others
import { INestApplicationContext, Logger } from '@nestjs/common';
import { afterStart, startSmall } from '../app/start/memory';
import { onStop } from '../app/start/stop'; // first, because it remembers the parent npm process
import { logKeyOf, logRingOf } from '../history/log/log-key';
import { BUILD } from '../platform/build';
import { Config, loadConfig, RunningConfig, StartError } from '../platform/config/config';
import { prepareDatabase } from '../platform/database/checks/prepare-database';
import { giveUpWaiting, onceReachable, unlessGivenUp } from '../platform/database/servers/once-reachable';
import { failure } from '../platform/logging/failure';
import { outliveReaders } from '../platform/logging/log-output';
import { beginLog, endLog } from '../platform/logging/logging';

// Runs a worker as a process of its own. With an IPC channel, it ends with its parent.

/** Time for a stop. The next worker continues unfinished work. */
const STOP_DEADLINE_MS = 5_000;

async function run(): Promise<void> {
  outliveReaders();
  startSmall();
  const config = loadConfig();
  beginLog(config.logLevel, 'worker');
  const logger = new Logger('Worker');
  const starting = start(config);
  const stop = (reason: string) => {
    logger.log({ reason }, 'worker is stopping');
    setTimeout(() => process.exit(0), STOP_DEADLINE_MS).unref();
    giveUpWaiting();
    const stopping = starting.then(({ worker }) => worker.close(), unlessGivenUp);
    const stopped = stopping.then(() => logger.log('worker has stopped')).then(endLog);
    void stopped.then(() => process.exit(0), fail);
  };
  onStop(stop);
  process.once('disconnect', () => stop('the proxy has ended'));
  const running = await starting.catch(unlessGivenUp);
  if (!running) return;
  const { url: address, upstreamHost: upstream, schema } = running;
  logger.log({ ...BUILD, address, upstream, schema }, 'worker is ready');
}

interface Running {
  worker: INestApplicationContext;
  url: string;
  upstreamHost: string;
  /** Last migration of the database. */
  schema: string;
}

async function start(config: Config): Promise<Running> {
  const settings = settingsOf(config);
  const isAlone = process.send === undefined; // with a proxy, it has the proxy's configuration
  // Loads hundreds of modules after the check of the configuration, and before a connection could time out.
  const [{ createWorker }, { serveProbes }, { recordConfiguration }, { requireLogKeys }] = await Promise.all([
    import('./worker.js'),
    import('./probes.js'),
    import('../app/start/record-configuration.js'),
    import('../history/log/log-key-check.js'),
  ]);
  const { schema } = await onceReachable({ url: settings.databaseUrl, while: 'unavailable' }, async () => {
    const prepared = await prepareDatabase(settings, settings.migrateOnStart);
    if (config.logSigningKey) await requireLogKeys(settings.databaseUrl, logRingOf(settings));
    return prepared;
  });
  const worker = await createWorker(settings);
  if (isAlone) await recordConfiguration(worker, 'worker', settings.recorded);
  afterStart();
  const { url } = await serveProbes(worker, settings);
  return { worker, url, upstreamHost: new URL(settings.upstreamBaseUrl).host, schema };
}

/** @throws StartError without a database or an upstream, because a worker starts neither. */
function settingsOf(config: Config): RunningConfig {
  const { databaseUrl, databaseOwnerUrl = databaseUrl, upstreamBaseUrl, upstreamApiKey } = config;
  if (!databaseUrl || !databaseOwnerUrl || !upstreamBaseUrl || !upstreamApiKey) {
    throw new StartError(
      'a worker needs DATABASE_URL, UPSTREAM_BASE_URL and UPSTREAM_API_KEY. Without them, npm start runs ' +
        'one with the proxy.',
    );
  }
  const given = { databaseUrl, databaseOwnerUrl, upstreamBaseUrl, upstreamApiKey };
  return Object.freeze({ ...config, ...given, logSigningKey: logKeyOf(config), embeddedSandbox: undefined });
}

function fail(error: unknown): never {
  process.stderr.write(`payout-proxy worker: ${failure('the worker', error)}\n`);
  process.exit(1);
}

run().catch(fail);
