import { userInfo } from 'node:os';
import { Command } from 'commander';
import { BeneficiariesService } from '../../access/clients/beneficiaries.service';
import { AT_START, ChangeAuthor } from '../../access/clients/changes';
import { ClientError } from '../../access/clients/client-error';
import { ClientsService } from '../../access/clients/clients.service';
import { PersonExceptionsService } from '../../access/people/person-exceptions';
import { StopsService } from '../../admin/stops/stops.service';
import { isText } from '../../http/validation/rules/rules';
import { ActivityJournal } from '../../journal/activity/activity';
import { Config, loadConfigOf, StartError } from '../../platform/config/config';
import { requireAccess } from '../../platform/database/checks/access-check';
import { requireEngine, requireSessionLocks } from '../../platform/database/checks/engine-check';
import { clock, DATABASE_MS } from '../../platform/database/clock';
import { embeddedUrls } from '../../platform/database/embedded/access';
import { startEmbeddedPostgres } from '../../platform/database/embedded/embedded-postgres';
import {
  migrate,
  migrationStatus,
  pendingMigrations,
  PROXY_MIGRATIONS,
  SANDBOX_MIGRATIONS,
} from '../../platform/database/migrations/migrations';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { withConnection } from '../../platform/database/servers/database-client';
import { onceReachable } from '../../platform/database/servers/once-reachable';
import { print } from '../output';

interface DatabaseUrls {
  url: string;
  ownerUrl: string;
  sealerUrl?: string | undefined;
  /** The database of the embedded sandbox. It exists only with an embedded Postgres. */
  sandboxUrl?: string;
}

interface MigrateOptions {
  dryRun?: boolean;
  json?: boolean;
}

const MIGRATE_HELP = `
A start applies the same migrations if MIGRATE_ON_START is true, which is the default outside
production. No other command applies migrations. While other sessions hold locks that a migration
needs, it is tried several times and never waits long, because payments would wait behind it. With
--dry-run, the command changes nothing and exits with code 1 if migrations are pending. Without
DATABASE_URL, it also covers the database of the embedded sandbox.

Examples:
  npm run cli -- database migrate --dry-run
  npm run cli -- database migrate
  npm run cli -- database migrate --json`;

export function databaseCommands(): Command {
  const database = new Command('database').description(
    'migrate, check, back up, restore and recover the database',
  );
  database
    .command('url')
    .description("print the connection string of the proxy's role, or of the owner with --owner")
    .option('--owner', "the owner's")
    .addHelpText('after', '\nExamples:\n  psql "$(npm run -s cli -- database url)"')
    .action((options: { owner?: boolean }) => {
      const { url, ownerUrl } = namedUrls(loadConfigOf('database'));
      process.stdout.write(`${options.owner ? ownerUrl : url}\n`);
    });
  database
    .command('migrate')
    .description('apply pending migrations')
    .option('--dry-run', 'list pending migrations, and change nothing')
    .option('--json', 'print JSON: {"applied"}, or {"pending"} with --dry-run')
    .addHelpText('after', MIGRATE_HELP)
    .action((options: MigrateOptions) =>
      withDatabase((urls) => migrateAll(urls, options), { create: !options.dryRun }),
    );
  database
    .command('status')
    .description(
      'check the server, list migrations, and check roles and rights; exit with code 1 if a migration ' +
        'is pending or something is missing',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  npm run cli -- database status --json')
    .action(({ json }: { json?: boolean }) =>
      withDatabase(async ({ url, ownerUrl, sealerUrl }) => {
        await requireEngine(ownerUrl);
        const states = await migrationStatus(ownerUrl, PROXY_MIGRATIONS);
        print(
          states.map(({ name, appliedAt }) => ({ name, applied_at: appliedAt })),
          json,
        );
        if (states.some(({ appliedAt }) => appliedAt === null)) process.exitCode = 1;
        // rejects a newer database, and edited migrations
        await pendingMigrations(ownerUrl, PROXY_MIGRATIONS);
        await requireAccess({ databaseUrl: url, databaseOwnerUrl: ownerUrl, databaseSealerUrl: sealerUrl });
        await requireSessionLocks(url);
      }),
    );
  return database;
}

async function migrateAll(
  { ownerUrl, sandboxUrl }: DatabaseUrls,
  { dryRun, json }: MigrateOptions,
): Promise<void> {
  const work = dryRun ? pendingMigrations : migrate;
  await requireEngine(ownerUrl);
  const names = await work(ownerUrl, PROXY_MIGRATIONS);
  if (sandboxUrl !== undefined) {
    names.push(...(await work(sandboxUrl, SANDBOX_MIGRATIONS)).map((name) => `sandbox/${name}`));
  }
  if (json) print(dryRun ? { pending: names } : { applied: names }, json);
  else
    process.stdout.write(
      `${names.join('\n') || (dryRun ? 'No migrations are pending.' : 'No migrations to apply.')}\n`,
    );
  if (dryRun && names.length > 0) process.exitCode = 1;
}

/** Runs work on clients against an up-to-date database. Whatever it started is stopped afterwards. */
export async function withClients(work: (clients: ClientsService) => Promise<void>): Promise<void> {
  await withPrisma((prisma) => work(clientServices(prisma).clients));
}

/** The services that change clients without a second person. */
export interface ClientServices {
  prisma: PrismaService;
  clients: ClientsService;
  register: BeneficiariesService;
  exceptions: PersonExceptionsService;
  stops: StopsService;
}

export function clientServices(prisma: PrismaService): ClientServices {
  const journal = new ActivityJournal();
  const clients = new ClientsService(prisma, journal);
  const register = new BeneficiariesService(prisma, clients, journal);
  const exceptions = new PersonExceptionsService(prisma, journal);
  return { prisma, clients, register, exceptions, stops: new StopsService(prisma, journal) };
}

/**
 * Runs work with the proxy's rights against an up-to-date database. Whatever it started is stopped
 * afterwards.
 */
export async function withPrisma(work: (prisma: PrismaService) => Promise<void>): Promise<void> {
  await withDatabase(async ({ url, ownerUrl }) => {
    await requireUpToDate(ownerUrl);
    const database = { databaseUrl: url, databaseOwnerUrl: ownerUrl, databasePoolSize: 2 };
    const prisma = new PrismaService({ ...loadConfigOf('database'), ...database });
    try {
      await compareClock(() => prisma.$queryRawUnsafe<[{ ms: number }]>(DATABASE_MS));
      await work(prisma);
    } finally {
      await prisma.$disconnect();
    }
  });
}

/**
 * Gives the command the database's time, whatever the clock of this machine shows. Its IDs and expiries
 * depend on it.
 */
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

/**
 * Rejects a database that is not up to date. A command must not migrate it below running instances of an
 * older version.
 */
export async function requireUpToDate(ownerUrl: string): Promise<void> {
  const { length } = await pendingMigrations(ownerUrl, PROXY_MIGRATIONS);
  if (length === 0) return;
  throw new StartError(
    `The database is not up to date: ${length} migration${length === 1 ? ' is' : 's are'} pending. Run ` +
      'npm run cli -- database migrate.',
  );
}

/**
 * Runs work on the database of DATABASE_URL, once it can be reached: it may be restarting.
 *
 * Without DATABASE_URL, joins the embedded Postgres if it is running. Otherwise, it is started for the
 * duration of the work.
 * @param create whether to create an embedded Postgres if there is none yet.
 */
export async function withDatabase(
  work: (urls: DatabaseUrls) => Promise<void>,
  { create = false }: { create?: boolean } = {},
): Promise<void> {
  const config = loadConfigOf('database');
  if (config.databaseUrl) {
    const urls = namedUrls(config);
    const look = () => withConnection(urls.ownerUrl, () => Promise.resolve());
    // first, because the work is not repeatable
    await onceReachable({ url: urls.ownerUrl, while: 'restarting' }, look);
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

const MAX_REASON = 1_000;

/**
 * Returns the author of a change made with a command: the user of the operating system.
 * @throws ClientError if the reason cannot be stored in a record.
 */
export function changedByOperator(reason: string | undefined): ChangeAuthor {
  if (reason !== undefined && (reason.trim() === '' || !isText(reason, MAX_REASON))) {
    throw new ClientError(
      `--reason must be text of 1 to ${MAX_REASON} characters, without control characters.`,
    );
  }
  return { ...AT_START, via: 'cli', actor: operator(), reason: reason ?? null };
}

/** Returns the user of the operating system. In a container, it may have no name. */
function operator(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
