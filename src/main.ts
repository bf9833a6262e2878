import './platform/modules/of-the-build'; // first, because it loads the others
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { banner, stepPrinter } from './app/start/banner';
import { bindDemoClients, ensureDemoKeys, refuseDemoClients } from './app/start/demo-keys';
import { needsPostgres, startDependencies } from './app/start/dependencies';
import { listen } from './app/start/listen';
import { afterStart, startSmall } from './app/start/memory';
import { onStop } from './app/start/stop'; // first, because it remembers the npm that runs this process
import { startWorker } from './app/start/worker-process';
import type { PrivatePort } from './http/health/private-port';
import { BUILD } from './platform/build';
import { Config, loadConfig } from './platform/config/config';
import { longestUpstreamTimeout } from './platform/config/upstream/upstream-timeouts';
import { lockDataDir } from './platform/database/embedded/directory-lock';
import { giveUpWaiting, onceReachable, unlessGivenUp } from './platform/database/servers/once-reachable';
import { failure } from './platform/logging/failure';
import { outliveReaders } from './platform/logging/log-output';
import { beginLog, endLog } from './platform/logging/logging';

/** Extra time of a stop after the longest deadline of a call in flight. */
const STOP_GRACE_MS = 15_000;

interface RunningProxy {
  url: string;
  metricsUrl: string;
  demoKeys: string | undefined;
  upstreamHost: string;
  /** The last migration that the database has. */
  schema: string;
  /** Drains until DRAIN_MS or urgency, finishes and commits calls in flight, and stops all processes. */
  stop: (urgent: AbortSignal) => Promise<void>;
}

async function run(): Promise<void> {
  outliveReaders();
  startSmall();
  const config = loadConfig();
  beginLog(config.logLevel, 'proxy');
  const logger = new Logger('Proxy');
  const starting = start(config);
  // A stop waits for the end of the start, because half a start could leave a Postgres behind.
  onStop((reason, urgent) => {
    logger.log({ reason }, 'proxy is stopping');
    giveUpWaiting();
    const stopping = starting.then(({ stop }) => stop(urgent), unlessGivenUp);
    const stopped = stopping.then(() => logger.log('proxy has stopped')).then(endLog);
    void stopped.then(() => process.exit(0), fail);
  });
  const running = await starting.catch(unlessGivenUp);
  if (!running) return;
  const { url: address, metricsUrl: metrics, demoKeys, upstreamHost: upstream, schema } = running;
  if (config.production) logger.log({ ...BUILD, address, metrics, upstream, schema }, 'proxy is ready');
  else process.stdout.write(banner(address, metrics, demoKeys, config));
}

async function start(config: Config): Promise<RunningProxy> {
  const report = config.production ? () => undefined : stepPrinter();
  // first, because all below writes there
  const lock = await lockDataDir(config.dataDir, needsPostgres(config));
  // Hundreds of modules, loaded once the configuration is valid. They take seconds of CPU time in one piece,
  // in which a connection would time out.
  const loaded = await import('./app/application.js');
  const dependencies = await startDependencies(config, lock, report);
  const { settings, embeddedDatabase, schema } = dependencies;
  const worker = config.startWorker ? startWorker(settings) : undefined;
  let app: NestFastifyApplication | undefined;
  let metrics: PrivatePort | undefined;
  const stop = async () => {
    setTimeout(() => process.exit(1), longestUpstreamTimeout(settings) + STOP_GRACE_MS).unref();
    try {
      await app?.close();
      metrics?.close();
      await worker?.stop(); // it seals the records of the last requests
    } finally {
      await dependencies.stop();
      await lock.release();
    }
  };
  try {
    const { createApp, recordConfiguration, serveMetrics } = loaded;
    const { ClientsService, DemoClientsService, DualControlService, ReadinessService } = loaded;
    app = await createApp(settings);
    const clients = app.get(ClientsService, { strict: false });
    const demo = app.get(DemoClientsService, { strict: false });
    const dualControl = app.get(DualControlService, { strict: false });
    const isForDemo = embeddedDatabase && settings.embeddedSandbox !== undefined;
    const demoKeys = isForDemo ? await ensureDemoKeys(clients, config.dataDir) : undefined;
    await onceReachable({ url: settings.databaseUrl, while: 'unavailable' }, async () => {
      if (isForDemo) await bindDemoClients(demo, settings);
      else await refuseDemoClients(demo, settings);
      await dualControl.recordSetting();
    });
    await recordConfiguration(app, 'proxy', config.recorded);
    afterStart();
    metrics = await serveMetrics(app, settings);
    // last, so that the keys exist once the proxy is ready
    const server = app.getHttpAdapter().getInstance();
    const url = await listen(server, settings);
    void server.acceptors.start(); // it takes some 100 ms, and reports its own failure
    lock.serves(url);
    report('Proxy', url);
    const readiness = app.get(ReadinessService, { strict: false });
    const drainAndStop = async (urgent: AbortSignal) => {
      readiness.stop();
      await sleep(config.drainMs, undefined, { signal: urgent }).catch(() => undefined); // urgent now
      await stop();
    };
    const upstreamHost = new URL(settings.upstreamBaseUrl).host;
    return { url, metricsUrl: metrics?.url ?? url, demoKeys, upstreamHost, schema, stop: drainAndStop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function fail(error: unknown): never {
  process.stderr.write(`payout-proxy: ${failure('the proxy', error)}\n`);
  process.exit(1);
}

run().catch(fail);
