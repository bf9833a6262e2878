import { ConfigService } from '@nestjs/config';
import { Command } from 'commander';
import { ClientsService } from '../access/clients/clients.service';
import { Config, loadConfigOf, StartError } from '../platform/config/config';
import { embeddedUrls } from '../platform/database/embedded/access';
import { startEmbeddedPostgres } from '../platform/database/embedded/embedded-postgres';
import {
  migrate,
  migrationStatus,
  pendingMigrations,
  PROXY_MIGRATIONS,
  SANDBOX_MIGRATIONS,
} from '../platform/database/migrations';
import { PrismaService } from '../platform/database/prisma.service';
import { ActivityJournal } from '../journal/activity';
import { print } from './output';

interface DatabaseUrls {
  url: string;
  ownerUrl: string;
  /** The database of the embedded sandbox. It exists only beside an embedded Postgres. */
  sandboxUrl?: string;
}

interface MigrateOptions {
  dryRun?: boolean;
  json?: boolean;
}

const MIGRATE_HELP = `
A start applies the same migrations by itself, and no other command does. With --dry-run nothing is changed, and the exit code is
1 if migrations are pending. Without DATABASE_URL it also covers the database of the embedded sandbox.

Examples:
  npm run cli -- database migrate --dry-run
  npm run cli -- database migrate
  npm run cli -- database migrate --json`;

export function databaseCommands(): Command {
  const database = new Command('database').description('where the records are, and their migrations');
  database
    .command('url')
    .description("print the connection string of the proxy's role, or with --owner of the owner's")
    .option('--owner', "the owner's")
    .addHelpText('after', '\nExamples:\n  psql "$(npm run -s cli -- database url)"')
    .action((options: { owner?: boolean }) => {
      const { url, ownerUrl } = namedUrls(loadConfigOf('database'));
      process.stdout.write(`${options.owner ? ownerUrl : url}\n`);
    });
  database
    .command('migrate')
    .description('apply the migrations that a start would apply')
    .option('--dry-run', 'only list them')
    .option('--json', 'for machines: {"applied"}, or with --dry-run {"pending"}')
    .addHelpText('after', MIGRATE_HELP)
    .action((options: MigrateOptions) => withDatabase((urls) => migrateAll(urls, options), { create: true }));
  database
    .command('status')
    .description('list the migrations and when each was applied; the exit code is 1 if some are pending')
    .option('--json', 'for machines')
    .addHelpText('after', '\nExamples:\n  npm run cli -- database status --json')
    .action(({ json }: { json?: boolean }) =>
      withDatabase(async ({ url }) => {
        const states = await migrationStatus(url, PROXY_MIGRATIONS);
        print(
          states.map(({ name, appliedAt }) => ({ name, applied_at: appliedAt })),
          json,
        );
        if (states.some(({ appliedAt }) => appliedAt === null)) process.exitCode = 1;
      }),
    );
  return database;
}

async function migrateAll({ ownerUrl, sandboxUrl }: DatabaseUrls, { dryRun, json }: MigrateOptions): Promise<void> {
  const work = dryRun ? pendingMigrations : migrate;
  const names = await work(ownerUrl, PROXY_MIGRATIONS);
  if (sandboxUrl !== undefined) {
    names.push(...(await work(sandboxUrl, SANDBOX_MIGRATIONS)).map((name) => `sandbox/${name}`));
  }
  if (json) print(dryRun ? { pending: names } : { applied: names }, json);
  else process.stdout.write(`${names.join('\n') || (dryRun ? 'nothing is pending' : 'nothing to apply')}\n`);
  if (dryRun && names.length > 0) process.exitCode = 1;
}

/** Works with clients on a database that is up to date, and leaves everything as it was found running. */
export async function withClients(work: (clients: ClientsService) => Promise<void>): Promise<void> {
  await withPrisma((prisma) => work(new ClientsService(prisma, new ActivityJournal())));
}

/** Works with the proxy's rights on a database that is up to date, and leaves everything as it was found running. */
export async function withPrisma(work: (prisma: PrismaService) => Promise<void>): Promise<void> {
  await withDatabase(async ({ url, ownerUrl }) => {
    await requireUpToDate(ownerUrl);
    const database = { databaseUrl: url, databaseOwnerUrl: ownerUrl, databasePoolSize: 2 };
    const prisma = new PrismaService(new ConfigService({ settings: { ...loadConfigOf('database'), ...database } }));
    try {
      await work(prisma);
    } finally {
      await prisma.$disconnect();
    }
  });
}

/** Works with the rights of the database's owner, on a database that is up to date. */
export async function withOwner(work: (ownerUrl: string) => Promise<void>): Promise<void> {
  await withDatabase(async ({ ownerUrl }) => {
    await requireUpToDate(ownerUrl);
    await work(ownerUrl);
  });
}

/** A command must not change the schema below instances of an older version that still run. */
async function requireUpToDate(ownerUrl: string): Promise<void> {
  const { length } = await pendingMigrations(ownerUrl, PROXY_MIGRATIONS);
  if (length === 0) return;
  throw new StartError(
    `The database is not up to date: ${length} migration${length === 1 ? ' is' : 's are'} pending. Run npm run cli -- database migrate, or start the proxy.`,
  );
}

/**
 * The embedded Postgres is joined where it runs, and started for the time of the work where it does not.
 * @param create whether an embedded Postgres is made if there is none yet.
 */
export async function withDatabase(
  work: (urls: DatabaseUrls) => Promise<void>,
  { create = false }: { create?: boolean } = {},
): Promise<void> {
  const config = loadConfigOf('database');
  if (config.databaseUrl) return work(namedUrls(config));
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
  const { databaseUrl, databaseOwnerUrl } = config;
  if (databaseUrl) return { url: databaseUrl, ownerUrl: databaseOwnerUrl ?? databaseUrl };
  const { proxy, owner } = requireEmbedded(config);
  return { url: proxy, ownerUrl: owner };
}

function requireEmbedded({ dataDir }: Config) {
  const urls = embeddedUrls(dataDir);
  if (urls) return urls;
  throw new StartError(`there is no database in ${dataDir} yet; run npm start first, or set DATABASE_URL`);
}
