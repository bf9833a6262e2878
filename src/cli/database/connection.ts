import { Config, loadConfigOf, StartError } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { embeddedUrls } from '../../platform/database/embedded/access';
import { startEmbeddedPostgres } from '../../platform/database/embedded/embedded-postgres';
import { pendingMigrations, PROXY_MIGRATIONS } from '../../platform/database/migrations/migrations';
import { withConnection } from '../../platform/database/servers/database-client';
import { onceReachable } from '../../platform/database/servers/once-reachable';
import { beginCommandLog } from '../terminal';

export interface DatabaseUrls {
  url: string;
  ownerUrl: string;
  sealerUrl?: string | undefined;
  /** Database of the embedded sandbox. Exists only with an embedded Postgres. */
  sandboxUrl?: string;
}

/** Sets the clock of the command to the database's time, for its IDs and expiries. */
export async function compareClock(read: () => Promise<[{ ms: number }]>): Promise<void> {
  const sentAt = performance.now();
  const [{ ms }] = await read();
  clock.observe(ms, performance.now() - sentAt);
}

/** Runs work with the rights of the database's owner against an up-to-date database. */
export async function withOwner(work: (ownerUrl: string) => Promise<void>): Promise<void> {
  await withDatabase(async ({ ownerUrl }) => {
    await requireUpToDate(ownerUrl);
    await work(ownerUrl);
  });
}

/** Rejects an outdated database. A command must not migrate it while instances of an older version run. */
export async function requireUpToDate(ownerUrl: string): Promise<void> {
  const { length } = await pendingMigrations(ownerUrl, PROXY_MIGRATIONS);
  if (length === 0) return;
  throw new StartError(
    `The database is not up to date: ${length} migration${length === 1 ? ' is' : 's are'} pending. Run ` +
      'npm run cli -- database migrate.',
  );
}

/**
 * Runs work on the database of DATABASE_URL, and waits for its restart. Without DATABASE_URL, joins a running
 * embedded Postgres, or starts it for the duration of the work.
 * @param create whether to create a missing embedded Postgres.
 */
export async function withDatabase(
  work: (urls: DatabaseUrls) => Promise<void>,
  { create = false }: { create?: boolean } = {},
): Promise<void> {
  await beginCommandLog();
  const config = loadConfigOf('database');
  if (config.databaseUrl) {
    const urls = namedUrls(config);
    const connect = () => withConnection(urls.ownerUrl, () => Promise.resolve());
    await onceReachable({ url: urls.ownerUrl, while: 'restarting' }, connect); // the work is not repeatable
    return work(urls);
  }
  if (!create) requireEmbedded(config);
  const postgres = await startEmbeddedPostgres(config.dataDir, { joinRunning: true });
  const { proxy, owner, sandbox } = postgres.urls;
  try {
    await work({ url: proxy, ownerUrl: owner, sandboxUrl: sandbox });
  } finally {
    await postgres.stop();
  }
}

function namedUrls(config: Config): DatabaseUrls {
  const { databaseUrl, databaseOwnerUrl, databaseSealerUrl: sealerUrl } = config;
  if (databaseUrl) return { url: databaseUrl, ownerUrl: databaseOwnerUrl ?? databaseUrl, sealerUrl };
  const { proxy, owner } = requireEmbedded(config);
  return { url: proxy, ownerUrl: owner };
}

function requireEmbedded({ dataDir }: Config) {
  const urls = embeddedUrls(dataDir);
  if (urls) return urls;
  throw new StartError(`There is no database in ${dataDir} yet. Run npm start first, or set DATABASE_URL.`);
}

/** Prints the connection string of the proxy's role, or of the owner. */
export function printUrl({ owner }: { owner?: boolean }): void {
  const { url, ownerUrl } = namedUrls(loadConfigOf('database'));
  process.stdout.write(`${owner ? ownerUrl : url}\n`);
}
