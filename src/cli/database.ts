import { ConfigService } from '@nestjs/config';
import { Command } from 'commander';
import { ClientsService } from '../clients/clients.service';
import { Config, loadConfig, StartError } from '../config/config';
import { embeddedUrls } from '../database/embedded/access';
import { startEmbeddedPostgres } from '../database/embedded/embedded-postgres';
import { migrate, migrationStatus, PROXY_MIGRATIONS } from '../database/migrations';
import { PrismaService } from '../database/prisma.service';
import { print } from './output';

interface DatabaseUrls {
  url: string;
  ownerUrl: string;
}

export function databaseCommands(): Command {
  const database = new Command('database').description('where the records are, and their migrations');
  database
    .command('url')
    .description("print the connection string of the proxy's role, or with --owner of the owner's")
    .option('--owner', "the owner's")
    .action((options: { owner?: boolean }) => {
      const { url, ownerUrl } = namedUrls(loadConfig());
      process.stdout.write(`${options.owner ? ownerUrl : url}\n`);
    });
  database
    .command('migrate')
    .description('apply the migrations that are not applied yet')
    .option('--json', 'for machines')
    .action(({ json }: { json?: boolean }) =>
      withDatabase(async ({ ownerUrl }) => {
        const applied = await migrate(ownerUrl, PROXY_MIGRATIONS);
        if (json) print({ applied }, json);
        else process.stdout.write(`${applied.join('\n') || 'nothing to apply'}\n`);
      }),
    );
  database
    .command('status')
    .description('list the migrations and when each was applied')
    .option('--json', 'for machines')
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

/** Works with clients on a database that is up to date, and leaves everything as it was found running. */
export async function withClients(work: (clients: ClientsService) => Promise<void>): Promise<void> {
  await withPrisma((prisma) => work(new ClientsService(prisma)));
}

/** Works on a database that is up to date, and leaves everything as it was found running. */
export async function withPrisma(work: (prisma: PrismaService) => Promise<void>): Promise<void> {
  await withDatabase(async ({ url, ownerUrl }) => {
    await migrate(ownerUrl, PROXY_MIGRATIONS);
    const settings = { ...loadConfig(), databaseUrl: url, databaseOwnerUrl: ownerUrl, databasePoolSize: 2 };
    const prisma = new PrismaService(new ConfigService({ settings }));
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
    await migrate(ownerUrl, PROXY_MIGRATIONS);
    await work(ownerUrl);
  });
}

/** The embedded Postgres is joined where it runs, and started for the time of the work where it does not. */
export async function withDatabase(work: (urls: DatabaseUrls) => Promise<void>): Promise<void> {
  const config = loadConfig();
  if (config.databaseUrl) return work(namedUrls(config));
  const postgres = await startEmbeddedPostgres(config.dataDir, { joinRunning: true });
  try {
    await work({ url: postgres.urls.proxy, ownerUrl: postgres.urls.owner });
  } finally {
    await postgres.stop();
  }
}

function namedUrls({ databaseUrl, databaseOwnerUrl, dataDir }: Config): DatabaseUrls {
  if (databaseUrl) return { url: databaseUrl, ownerUrl: databaseOwnerUrl ?? databaseUrl };
  const urls = embeddedUrls(dataDir);
  if (!urls) throw new StartError(`there is no database in ${dataDir} yet; run npm start first, or set DATABASE_URL`);
  return { url: urls.proxy, ownerUrl: urls.owner };
}
