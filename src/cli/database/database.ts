import { userInfo } from 'node:os';
import { Command } from 'commander';
import { BeneficiariesService } from '../../access/clients/beneficiaries.service';
import { AT_START, ChangeAuthor } from '../../access/clients/changes';
import { ClientError } from '../../access/clients/client-error';
import { ClientsService } from '../../access/clients/clients.service';
import { PersonExceptionsService } from '../../access/people/person-exceptions';
import { FeesService } from '../../admin/fees/fees.service';
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
  /** Database of the embedded sandbox. Exists only with an embedded Postgres. */
  sandboxUrl?: string;
}

interface MigrateOptions {
  dryRun?: boolean;
  json?: boolean;
}

const MIGRATE_HELP = `
A start applies the same migrations if MIGRATE_ON_START is true, the default outside production. No other
command applies migrations. A migration retries its locks and never waits long for them, because payments
would wait behind it. With --dry-run, the command changes nothing and exits with code 1 if migrations are
pending. Without DATABASE_URL, it also covers the database of the embedded sandbox.

Examples:
  npm run cli -- database migrate --dry-run
  npm run cli -- database migrate
  npm run cli -- database migrate --json`;

const STATUS_HELP = `
Exit codes: 1 if a migration is pending, or if a role or right is missing, else 0.

Examples:
  npm run cli -- database status --json`;

export function databaseCommands(): Command {
  const summary = 'migrate, check, back up, restore and recover the database';
  const database = new Command('database').description(summary);
  database
    .command('url')
    .description("print the connection string of the proxy's role, or of the owner with --owner")
    .option('--owner', 'connection string of the owner')
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
    .description('check the server, list migrations, and check roles and rights')
    .option('--json', 'print JSON')
    .addHelpText('after', STATUS_HELP)
    .action(({ json }: { json?: boolean }) =>
      withDatabase(async ({ url, ownerUrl, sealerUrl }) => {
        await requireEngine(ownerUrl);
        const states = await migrationStatus(ownerUrl, PROXY_MIGRATIONS);
        const rows = states.map(({ name, appliedAt }) => ({ name, applied_at: appliedAt }));
        print(rows, json);
        if (states.some(({ appliedAt }) => appliedAt === null)) process.exitCode = 1;
        await pendingMigrations(ownerUrl, PROXY_MIGRATIONS); // rejects newer databases and edited migrations
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
  const none = dryRun ? 'No migrations are pending.' : 'No migrations to apply.';
  if (json) print(dryRun ? { pending: names } : { applied: names }, json);
  else process.stdout.write(`${names.join('\n') || none}\n`);
  if (dryRun && names.length > 0) process.exitCode = 1;
}

/** Runs work on clients against an up-to-date database. */
export async function withClients(work: (clients: ClientsService) => Promise<void>): Promise<void> {
  await withPrisma((prisma) => work(clientServices(prisma).clients));
}

/** Services that change clients without a second person. */
export interface ClientServices {
  prisma: PrismaService;
  clients: ClientsService;
  register: BeneficiariesService;
  exceptions: PersonExceptionsService;
  stops: StopsService;
  fees: FeesService;
}

export function clientServices(prisma: PrismaService): ClientServices {
  const journal = new ActivityJournal();
  const clients = new ClientsService(prisma, journal);
  const register = new BeneficiariesService(prisma, clients, journal);
  const exceptions = new PersonExceptionsService(prisma, journal);
  const [stops, fees] = [new StopsService(prisma, journal), new FeesService(prisma, journal)];
  return { prisma, clients, register, exceptions, stops, fees };
}

/** Runs work with the proxy's rights against an up-to-date database. */
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

const MAX_REASON = 1_000;

/**
 * Returns the user of the operating system as the author of a change.
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

/** Returns the user of the operating system, who may have no name in a container. */
function operator(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
