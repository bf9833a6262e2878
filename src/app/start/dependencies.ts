import { join } from 'node:path';
import { logKeyOf, logRingOf } from '../../history/log/log-key';
import { requireLogKeys } from '../../history/log/log-key-check';
import { Config, RunningConfig } from '../../platform/config/config';
import { prepareDatabase } from '../../platform/database/checks/prepare-database';
import { DirectoryLock } from '../../platform/database/embedded/directory-lock';
import { EmbeddedPostgres, startEmbeddedPostgres } from '../../platform/database/embedded/embedded-postgres';
import { migrateAtStart, SANDBOX_MIGRATIONS } from '../../platform/database/migrations/migrations';
import { onceReachable } from '../../platform/database/servers/once-reachable';
import { demoKeysFile } from './demo-keys';
import { RunningSandbox, startSandbox } from './sandbox-process';

/** The recipient of probes in the embedded sandbox, where no mail is sent. */
const SANDBOX_PROBE_EMAIL = 'listing-probe@example.com';

/** Reports a step once it has passed. */
export type Report = (step: string, detail: string) => void;

interface Dependencies {
  settings: RunningConfig;
  /** Whether the database is the embedded one. */
  embeddedDatabase: boolean;
  /** The last migration that the database has. */
  schema: string;
  stop: () => Promise<void>;
}

/**
 * Provides the dependencies that the configuration does not name: an embedded Postgres without DATABASE_URL,
 * and the sandbox as upstream without UPSTREAM_BASE_URL. Also prepares the database.
 * @param lock the lock of DATA_DIR, which the caller holds until everything has stopped.
 * @param timeoutMs the maximum wait for an unavailable database. Default: a minute.
 */
export async function startDependencies(
  config: Config,
  lock: DirectoryLock,
  report: Report,
  timeoutMs?: number,
): Promise<Dependencies> {
  let postgres: EmbeddedPostgres | undefined;
  let sandbox: RunningSandbox | undefined;
  let stopping = false;
  const stop = async () => {
    stopping = true;
    await sandbox?.stop();
    await postgres?.stop();
  };
  try {
    if (needsPostgres(config)) {
      postgres = await startEmbeddedPostgres(config.dataDir, { lock });
      report('Postgres', `embedded, data in ${config.dataDir}`);
    }
    const database = databaseOf(config, postgres);
    const waiting = { url: database.databaseUrl, while: 'unavailable', timeoutMs } as const;
    const { applied, schema } = await onceReachable(waiting, () =>
      prepareDatabase({ ...config, ...database }, config.migrateOnStart),
    );
    report('Database', applied.length > 0 ? `${applied.length} migration(s) applied` : 'up to date');
    if (postgres && !config.upstreamBaseUrl) {
      await migrateAtStart(postgres.urls.sandbox, SANDBOX_MIGRATIONS, config.migrateOnStart);
      sandbox = await startSandbox(
        config,
        postgres.urls.sandbox,
        config.sandboxPortGiven ? config.sandboxPort : 0,
      );
      void sandbox.ended.then((how) => stopping || reportEnd(how));
    }
    const upstream = upstreamOf(config, sandbox);
    report('Upstream', sandbox ? `the sandbox, ${sandbox.url}` : upstream.upstreamBaseUrl);
    const logSigningKey = logKeyOf(config);
    if (config.logSigningKey) {
      const ring = logRingOf({ ...config, logSigningKey });
      await onceReachable(waiting, () => requireLogKeys(database.databaseUrl, ring));
    }
    const embeddedDatabase = config.databaseUrl === undefined;
    const embeddedSandbox = sandbox && {
      url: sandbox.url,
      controlKey: config.sandboxControlKey,
      demoKeysFile: embeddedDatabase ? demoKeysFile(config.dataDir) : undefined,
    };
    const resolverProbeEmail = config.resolverProbeEmail ?? (sandbox && SANDBOX_PROBE_EMAIL);
    const found = { ...database, ...upstream, logSigningKey, embeddedSandbox, resolverProbeEmail };
    const settings = Object.freeze({ ...config, ...found });
    return { settings, embeddedDatabase, schema, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reports the end of the sandbox. The proxy still serves reads of its history, and refuses payments. */
function reportEnd(how: string): void {
  process.stderr.write(
    `payout-proxy: the sandbox has stopped (${how}). Restart the proxy to restart the sandbox.\n`,
  );
}

/** Returns whether the database or the sandbox is an embedded one. */
export function needsPostgres({ databaseUrl, upstreamBaseUrl }: Config): boolean {
  return !databaseUrl || !upstreamBaseUrl;
}

/** Returns the URLs of the database. A single URL is the owner's (prisma.service.ts). */
function databaseOf(
  { databaseUrl, databaseOwnerUrl, dataDir }: Config,
  postgres: EmbeddedPostgres | undefined,
) {
  if (databaseUrl) return { databaseUrl, databaseOwnerUrl: databaseOwnerUrl ?? databaseUrl };
  if (!postgres) throw new Error('there is neither a DATABASE_URL nor an embedded Postgres');
  const { proxy, owner } = postgres.urls;
  return { databaseUrl: proxy, databaseOwnerUrl: owner, databaseDirectory: join(dataDir, 'postgres') };
}

function upstreamOf({ upstreamBaseUrl, upstreamApiKey }: Config, sandbox: RunningSandbox | undefined) {
  if (upstreamBaseUrl && upstreamApiKey) return { upstreamBaseUrl, upstreamApiKey };
  if (!sandbox) throw new Error('there is neither an UPSTREAM_BASE_URL nor a sandbox');
  return { upstreamBaseUrl: sandbox.url, upstreamApiKey: sandbox.apiKey };
}
