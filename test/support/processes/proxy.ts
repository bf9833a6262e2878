import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INestApplicationContext } from '@nestjs/common';
import { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { createApp } from '../../../src/app/app';
import { UNSAFE_SETTINGS } from '../../../src/continuity/fence/durability.service';
import { Scope } from '../../../src/operations/catalogue/scopes';
import { EmbeddedSandbox, loadConfig, RunningConfig } from '../../../src/platform/config/config';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { createSandbox, Sandbox } from '../../../src/sandbox/app';
import { createWorker } from '../../../src/worker/worker';
import { createTestDatabase, TestDatabase } from '../databases/test-database';
import supertest, { type TypedApiRequest } from '../http/supertest';
import { LOG_KEY } from '../records/log-key';

export const UPSTREAM_KEY = 'upstream-key-that-must-never-be-seen-anywhere';

export interface TestProxy {
  url: string;
  app: NestFastifyApplication;
  database: TestDatabase;
  /** Creates a client with these scopes and returns its key. */
  client(name: string, ...scopes: Scope[]): Promise<{ id: string; name: string; key: string }>;
  /** Sends a POST below /api/v0.1 with a key. */
  post<const Path extends string>(
    key: string,
    path: Path,
    body: object,
  ): TypedApiRequest<'post', `/api/v0.1${Path}`>;
  get<const Path extends string>(key: string, path: Path): TypedApiRequest<'get', Path>;
  /** Starts a worker in this process, with the same settings. It ends with the proxy. */
  startWorker(): Promise<INestApplicationContext>;
  close(): Promise<void>;
}

/** Returns the settings of a proxy or a worker on a test's database. */
export function settingsOn(
  database: Pick<TestDatabase, 'url' | 'ownerUrl'>,
  settings: Partial<RunningConfig> & { upstreamBaseUrl: string },
): RunningConfig {
  return {
    // Reads for coverage would count among the tests' requests, and many tests repeat one body.
    ...loadConfig({
      LOG_LEVEL: 'silent',
      DATA_DIR: join(tmpdir(), `payout-proxy-test-${randomUUID()}`), // Created only for a spooled outcome.
      CHECK_COVERAGE: 'false',
      DATABASE_ALLOW_UNSAFE: UNSAFE_SETTINGS.join(), // the test servers are fast instead
      DUPLICATE_GUARD: 'false',
      DATABASE_RESERVE_MB: '0', // 64 MB in each test database
      WALLETS_EVERY_SECONDS: '0',
      REQUEST_DEADLINE_MS: '30000', // machines that run many tests are slow
      RESOLVER_EVERY_SECONDS: '0', // nor do most want settled doubts
    }),
    databaseUrl: database.url,
    databaseOwnerUrl: database.ownerUrl,
    upstreamApiKey: new Secret(UPSTREAM_KEY),
    logSigningKey: new Secret(LOG_KEY),
    checkpointFile: undefined,
    embeddedSandbox: undefined,
    ...settings,
  };
}

/** Starts a proxy with a separate database that forwards to `upstreamBaseUrl`, without background work. */
export async function startProxy(
  settings: Partial<RunningConfig> & { upstreamBaseUrl: string },
  database?: TestDatabase,
): Promise<TestProxy> {
  const own = database ?? (await createTestDatabase());
  const all = settingsOn(own, settings);
  const app = await createApp(all);
  const workers: INestApplicationContext[] = [];
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const clients = app.get(ClientsService, { strict: false });
  return {
    url,
    app,
    database: own,
    client: (name, ...scopes) => clients.create(name, scopes),
    post: (key, path, body) => supertest(url).post(`/api/v0.1${path}`).set('X-API-Key', key).send(body),
    get: (key, path) => supertest(url).get(path).set('X-API-Key', key),
    startWorker: async () => {
      const worker = await createWorker(all);
      const close = worker.close.bind(worker);
      let closing: Promise<void> | undefined;
      // a test may close it earlier
      workers.push(Object.assign(worker, { close: () => (closing ??= close()) }));
      return worker;
    },
    close: async () => {
      await app.close();
      if (settings.dataDir === undefined) rmSync(all.dataDir, { recursive: true, force: true });
      for (const worker of workers) await worker.close();
      if (!database) await own.close();
    },
  };
}

/**
 * Starts a proxy with its own sandbox as the upstream, over HTTP.
 * @param embedded the control of the sandbox, if the proxy needs it.
 */
export async function startProxyWithSandbox(
  settings: Partial<RunningConfig> = {},
  embedded?: Omit<EmbeddedSandbox, 'url'>,
): Promise<TestProxy & { sandbox: Sandbox }> {
  const database = await createTestDatabase();
  const keys = { apiKey: UPSTREAM_KEY, ...(embedded && { controlKey: embedded.controlKey.reveal() }) };
  const sandbox = await createSandbox({ databaseUrl: database.sandboxUrl, port: 0, ...keys });
  const { url } = sandbox;
  const embeddedSandbox = embedded && { url, ...embedded };
  const proxy = await startProxy(
    { upstreamBaseUrl: url, checkCoverage: true, embeddedSandbox, ...settings },
    database,
  );
  return {
    ...proxy,
    sandbox,
    close: async () => {
      await proxy.close();
      await sandbox.close();
      await database.close();
    },
  };
}
