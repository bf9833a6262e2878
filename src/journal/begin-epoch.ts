import { endCredentials } from '../access/callers/end-credentials';
import { newId } from '../platform/database/ids';
import { PrismaService } from '../platform/database/prisma.service';
import { proseAsRecorded } from '../platform/privacy/recorded';
import { insertion } from './insertion';
import { beginReading, LostTime } from './lost-time';

/** Sessions of many people end with it. */
const LIMITS = { maxWait: 5_000, timeout: 60_000 };

/** What `database recover` says when it begins an epoch. */
interface NewEpoch {
  reason: string;
  actor: string | null;
  /** The newest epoch that an instance has seen. A database that came back a second time does not know its number. */
  seen: number;
  /** How to read the payments that no copy has from the upstream's list. Undefined: none are missing. */
  reading?: Parameters<typeof beginReading>[1];
}

/** An epoch that has begun. */
export interface Epoch {
  number: number;
  lost: LostTime | null;
}

/**
 * Begins the next epoch: instances take what the database has now as its state. A person may lift the stop once the lost
 * time was read from the upstream's list. In the same transaction, a run begins to read it, and everybody has to sign in again.
 */
export async function beginEpoch(prisma: PrismaService, { reason, actor, seen, reading }: NewEpoch): Promise<Epoch> {
  return prisma.$transaction(async (tx) => {
    const lost = reading ? await beginReading(tx, reading) : null;
    const [row] = await tx.$queryRaw<[{ number: number; at: Date }]>`
      INSERT INTO epoch (number, reason, started_at, moved_at, lost_from, run_id)
      SELECT greatest(max(number), ${seen}::integer) + 1, ${proseAsRecorded(reason)},
        coalesce(${lost?.to}::timestamptz, clock_timestamp()), clock_timestamp(), ${lost?.from}::timestamptz, ${lost?.runId}::uuid
      FROM epoch RETURNING number, started_at AS at`;
    await endCredentials(tx, row.at);
    const act = {
      id: newId(),
      action: 'database_recovered',
      after: '{}',
      via: 'cli',
      actor,
      reason: proseAsRecorded(`Epoch ${row.number}: ${reason}`),
    };
    await tx.$executeRaw(insertion('activity', [act]));
    return { number: row.number, lost };
  }, LIMITS);
}
