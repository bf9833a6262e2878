import { CallFee, CALLS_TO_LEARN } from '../../operations/items/learned-fees';
import { Prisma } from '../../platform/database/generated/client';
import { LOCKS } from '../../platform/database/locks';
import { PrismaService } from '../../platform/database/pools/prisma.service';

/** The largest fee that a call was charged for a payout of a size, from the database. */
export interface CallFeeRow {
  number: number;
  account: string;
  operation: string;
  callId: string;
  /** The smallest amount of the size, in US dollars. */
  size: string;
  /** Day in UTC. */
  day: string;
  usd: string;
  /** Whether it is not expected any more. */
  forgotten: boolean;
}

const COLUMNS = Prisma.sql`
  number, account, operation, call_id AS "callId", size_usd::text AS size, day::text, usd::text, forgotten`;

/** Selects the rows that a process does not know, as `CallFeeRow`. */
export const callFeesAfter = (known: number) =>
  Prisma.sql`SELECT ${COLUMNS} FROM call_fee WHERE number > ${known}::bigint`;

/** Reads the fees that are not forgotten. */
export function readCallFees(prisma: PrismaService): Promise<CallFeeRow[]> {
  return prisma.$queryRaw`SELECT ${COLUMNS} FROM call_fee WHERE NOT forgotten`;
}

// One statement, because a process that freezes in a transaction would keep the lock. The lock lets numbers
// follow the order of the commits.
const LOCKED = Prisma.sql`locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(${LOCKS.expectedFee}))`;

/**
 * Writes the fees that a call was charged on a day, unless enough calls of the day were charged as much. A
 * forgotten fee of the call stays forgotten.
 */
export async function insertCallFees(
  prisma: PrismaService,
  { id, account, operation, day }: { id: string; account: string; operation: string; day: string },
  fees: readonly Pick<CallFee, 'sizeUsd' | 'usd'>[],
): Promise<void> {
  const sizes = fees.map(({ sizeUsd }) => sizeUsd.toFixed());
  const amounts = fees.map(({ usd }) => usd.toFixed());
  await prisma.$executeRaw`
    WITH ${LOCKED}
    INSERT INTO call_fee (account, operation, call_id, size_usd, day, usd)
    SELECT ${account}, ${operation}, ${id}::uuid, f.size_usd, ${day}::date, f.usd
    FROM locked, unnest(${sizes}::numeric[], ${amounts}::numeric[]) AS f(size_usd, usd)
    WHERE ${CALLS_TO_LEARN} > (
      SELECT count(*) FROM call_fee o
      WHERE o.account = ${account} AND o.operation = ${operation} AND o.size_usd = f.size_usd
        AND o.day = ${day}::date AND o.usd >= f.usd AND NOT o.forgotten)
    ON CONFLICT (account, operation, size_usd, call_id)
    DO UPDATE SET usd = excluded.usd, number = DEFAULT WHERE call_fee.usd < excluded.usd`;
}

/**
 * Forgets the fees of an operation of an account. Every instance forgets them before its next admission,
 * because their new numbers are larger than all others.
 * @returns the number of forgotten rows.
 */
export function forgetCallFees(
  tx: Prisma.TransactionClient,
  account: string,
  operation: string,
): Promise<number> {
  return tx.$executeRaw`
    WITH ${LOCKED}
    UPDATE call_fee SET forgotten = TRUE, number = DEFAULT FROM locked
    WHERE account = ${account} AND operation = ${operation} AND NOT forgotten`;
}
