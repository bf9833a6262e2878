import { BeneficiariesService } from '../../access/clients/beneficiaries.service';
import { ClientsService } from '../../access/clients/clients.service';
import { PersonExceptionsService } from '../../access/people/person-exceptions';
import { PersonRevocationsService } from '../../access/people/person-revocations.service';
import { StopsService } from '../../admin/stops/stops.service';
import { leaveWasmUnoptimized } from '../../app/start/memory';
import { ActivityJournal } from '../../journal/activity/activity';
import { loadConfigOf } from '../../platform/config/config';
import { DATABASE_MS } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SpendingService } from '../../policy/spending.service';
import { compareClock, requireUpToDate, withDatabase } from './connection';

/** Services that change clients without a second person. */
export type Services = ReturnType<typeof servicesOf>;

function servicesOf(prisma: PrismaService) {
  const journal = new ActivityJournal();
  const clients = new ClientsService(prisma, journal);
  return {
    prisma,
    journal,
    clients,
    register: new BeneficiariesService(prisma, clients, journal),
    exceptions: new PersonExceptionsService(prisma, journal),
    revocations: new PersonRevocationsService(prisma, journal),
    spending: new SpendingService(prisma),
    stops: new StopsService(prisma, journal),
  };
}

/** Runs work with the proxy's rights against an up-to-date database. */
export async function withServices(work: (services: Services) => Promise<void>): Promise<void> {
  leaveWasmUnoptimized();
  await withDatabase(async ({ url, ownerUrl }) => {
    await requireUpToDate(ownerUrl);
    const database = { databaseUrl: url, databaseOwnerUrl: ownerUrl, databasePoolSize: 2 };
    const prisma = new PrismaService({ ...loadConfigOf('database'), ...database });
    try {
      await compareClock(() => prisma.$queryRawUnsafe<[{ ms: number }]>(DATABASE_MS));
      await work(servicesOf(prisma));
    } finally {
      await prisma.$disconnect();
    }
  });
}
