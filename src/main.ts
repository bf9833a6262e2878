import { onStop } from './app/start/stop'; // first, because it remembers the npm that runs this process
import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config, loadConfig, StartError } from './platform/config/config';
import { outliveReaders } from './platform/logging/log-output';
import { longestUpstreamTimeout } from './platform/config/upstream-timeouts';
import { banner, stepPrinter } from './app/start/banner';
import { bindDemoClients, ensureDemoKeys, refuseDemoClients } from './app/start/demo-keys';
import { listen } from './app/start/listen';
import { afterStart, startSmall } from './app/start/memory';
import { needsPostgres, startDependencies } from './app/start/dependencies';
import type { PrivatePort } from './http/health/private-port';
import { lockDataDir } from './platform/database/embedded/directory-lock';
import { startWorker } from './app/start/worker-process';

/** An upstream call in flight may last as long as its deadline; past this, stopping goes on without it. */
const STOP_GRACE_MS = 15_000;

interface Running {
  url: string;
  metricsUrl: string;
  demoKeys: string | undefined;
  /**
   * Serves on for DRAIN_MS, not ready, or until it is urgent; then finishes what is in flight, commits it, and stops
   * everything that was started.
   */
  stop: (urgent: AbortSignal) => Promise<void>;
}

async function run(): Promise<void> {
  outliveReaders();
  startSmall();
  const config = loadConfig();
  const starting = start(config);
  // Asked to stop while starting, we finish the start first: half a start could leave a Postgres behind.
  onStop((urgent) => void starting.then(({ stop }) => stop(urgent)).then(() => process.exit(0), fail));
  const { url, metricsUrl, demoKeys } = await starting;
  if (!config.production) process.stdout.write(banner(url, metricsUrl, demoKeys, config));
}

async function start(config: Config): Promise<Running> {
  const report = config.production ? () => undefined : stepPrinter();
  const lock = await lockDataDir(config.dataDir, needsPostgres(config)); // first, because all below writes there
  const preparing = startDependencies(config, lock, report);
  // Hundreds of modules, loaded only once the configuration is known to be sound, and while Postgres and the sandbox start.
  const loading = import('./app/application.js');
  const dependencies = await preparing;
  const { settings, embeddedDatabase } = dependencies;
  const worker = config.startWorker ? startWorker(settings) : undefined;
  let app: NestFastifyApplication | undefined;
  let metrics: PrivatePort | undefined;
  const stop = async () => {
    setTimeout(() => process.exit(1), longestUpstreamTimeout(settings) + STOP_GRACE_MS).unref();
    try {
      await app?.close();
      metrics?.close();
      await worker?.stop(); // it seals what the last requests have recorded
    } finally {
      await dependencies.stop();
      await lock.release();
    }
  };
  try {
    const loaded = await loading;
    const { createApp, recordConfiguration, serveMetrics } = loaded;
    const { ClientsService, DemoClientsService, GovernanceService, ReadinessService } = loaded;
    app = await createApp(settings);
    const clients = app.get(ClientsService, { strict: false });
    const demo = app.get(DemoClientsService, { strict: false });
    const isForDemo = embeddedDatabase && settings.embeddedSandbox !== undefined;
    const demoKeys = isForDemo ? await ensureDemoKeys(clients, config.dataDir) : undefined;
    if (isForDemo) await bindDemoClients(demo, settings);
    else await refuseDemoClients(demo, settings);
    await app.get(GovernanceService, { strict: false }).recordSetting();
    await recordConfiguration(app, 'proxy', config.recorded);
    afterStart();
    metrics = await serveMetrics(app, settings);
    const url = await listen(app.getHttpAdapter().getInstance(), settings); // last: who finds it ready finds the keys too
    lock.serves(url);
    report('Proxy', url);
    const readiness = app.get(ReadinessService, { strict: false });
    const drainAndStop = async (urgent: AbortSignal) => {
      readiness.stop();
      await sleep(config.drainMs, undefined, { signal: urgent }).catch(() => undefined); // urgent now
      await stop();
    };
    return { url, metricsUrl: metrics?.url ?? url, demoKeys, stop: drainAndStop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function fail(error: unknown): never {
  const { name, code } = error as { name?: string; code?: string };
  const reason = error instanceof StartError ? error.message : `unexpected ${[name, code].filter(Boolean).join(' ')}`;
  process.stderr.write(`payout-proxy: ${reason}\n`);
  process.exit(1);
}

run().catch(fail);
