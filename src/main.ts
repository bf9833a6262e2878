import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from './app';
import { ClientsService } from './clients/clients.service';
import { loadConfig, RunningConfig, StartError } from './config/config';
import { banner, stepPrinter } from './start/banner';
import { ensureDemoKeys } from './start/demo-keys';
import { prepareSurroundings, Surroundings } from './start/surroundings';

/** An upstream call in flight may last as long as its deadline; past this, stopping goes on without it. */
const STOP_GRACE_MS = 15_000;

async function run(): Promise<void> {
  const config = loadConfig();
  const report = config.production ? () => undefined : stepPrinter();
  const surroundings = await prepareSurroundings(config, report);
  let app: NestFastifyApplication | undefined;
  try {
    app = await createApp(surroundings.settings);
    await listen(app, surroundings.settings);
  } catch (error) {
    await app?.close();
    await surroundings.stop();
    throw error;
  }
  stopOnSignals(app, surroundings);
  const url = await app.getUrl();
  report('Proxy', url);
  const demoKeys = surroundings.embeddedDatabase
    ? await ensureDemoKeys(app.get(ClientsService, { strict: false }), config.dataDir)
    : undefined;
  if (!config.production) process.stdout.write(banner(url, demoKeys));
}

async function listen(app: NestFastifyApplication, { port, host }: RunningConfig): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'EADDRINUSE') throw new StartError(`port ${port} is taken; set PORT to another one, or to 0 for any`);
    if (code === 'EACCES')
      throw new StartError(`port ${port} needs rights this user does not have; set PORT to another`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw new StartError('HOST is no address of this machine');
    throw error;
  }
}

/** Finishes what is in flight, commits it, and stops everything that was started; a second signal changes nothing. */
function stopOnSignals(app: NestFastifyApplication, { settings, stop }: Surroundings): void {
  let stopping = false;
  const onSignal = () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), settings.upstreamTimeoutMs + STOP_GRACE_MS).unref();
    app
      .close()
      .then(stop)
      .then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}

function fail(error: unknown): never {
  const { name, code } = error as { name?: string; code?: string };
  const reason = error instanceof StartError ? error.message : `unexpected ${[name, code].filter(Boolean).join(' ')}`;
  process.stderr.write(`payout-proxy: ${reason}\n`);
  process.exit(1);
}

run().catch(fail);
