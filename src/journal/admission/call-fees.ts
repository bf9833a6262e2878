import { Decimal } from 'decimal.js';
import { CallFee, CALLS_TO_LEARN, LearnedFee, learnedFees } from '../../operations/items/learned-fees';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { LOCKS } from '../../platform/database/locks';
import { PrismaService } from '../../platform/database/pools/prisma.service';

/** Days for which a charged fee is expected again. */
const EXPECTED_DAYS = 30;

/** The largest fee that a call was charged for a payout of a size, from the database. */
interface ChargedFeeRow {
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

/** The same with its number, which each change raises. */
export interface CallFeeRow extends ChargedFeeRow {
  number: number;
}

/** Charged fees, of which those of the last days are expected. */
export class ChargedFees {
  /** By account and operation, then by size and call. */
  private readonly fees = new Map<string, Map<string, CallFee>>();

  learn({ account, operation, callId, size, day, usd, forgotten }: ChargedFeeRow): void {
    const key = keyOf(account, operation);
    const fees = this.fees.get(key) ?? new Map<string, CallFee>();
    if (forgotten) fees.delete(`${size} ${callId}`);
    else fees.set(`${size} ${callId}`, { callId, sizeUsd: new Decimal(size), usd: new Decimal(usd), day });
    this.fees.set(key, fees);
  }

  /** Returns the fees of the last days, and drops older ones. */
  of(account: string, operation: string): CallFee[] {
    const oldest = clock.daysAgo(EXPECTED_DAYS);
    const fees = this.fees.get(keyOf(account, operation));
    for (const [key, { day }] of fees ?? []) if (day < oldest) fees?.delete(key);
    return [...(fees?.values() ?? [])];
  }

  /** Returns the fees that enough calls were charged, by rising size. */
  learned(account: string, operation: string): LearnedFee[] {
    return learnedFees(this.of(account, operation));
  }

  operations(): { account: string; operation: string }[] {
    return [...this.fees.keys()].map((key) => {
      const [account = '', operation = ''] = key.split('\n');
      return { account, operation };
    });
  }

  clear(): void {
    this.fees.clear();
  }
}

function keyOf(account: string, operation: string): string {
  return `${account}\n${operation}`;
}

const COLUMNS = Prisma.sql`
  account, operation, call_id AS "callId", size_usd::text AS size, day::text, usd::text, forgotten`;

/** Selects the rows that a process does not know, as `CallFeeRow`. */
export const callFeesAfter = (known: number) =>
  Prisma.sql`SELECT number, ${COLUMNS} FROM call_fee WHERE number > ${known}::bigint`;

/** Reads the fees that are not forgotten. */
export async function readChargedFees(prisma: Prisma.TransactionClient): Promise<ChargedFees> {
  const rows = await prisma.$queryRaw<ChargedFeeRow[]>`SELECT ${COLUMNS} FROM call_fee WHERE NOT forgotten`;
  const charged = new ChargedFees();
  for (const row of rows) charged.learn(row);
  return charged;
}

// One statement, because a process that freezes in a transaction would keep the lock. The lock lets numbers
// follow the order of the commits.
const LOCKED = Prisma.sql`locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(${LOCKS.expectedFee}))`;

/** A fee to write. */
export interface NewCallFee extends CallFee {
  account: string;
  operation: string;
}

/**
 * Writes the fees that calls were charged, unless enough calls of the day were charged as much. A forgotten
 * fee of a call stays forgotten.
 */
export async function insertCallFees(prisma: PrismaService, fees: readonly NewCallFee[]): Promise<void> {
  const rows = fees.map(({ callId, sizeUsd, usd, ...fee }) => {
    return { ...fee, call_id: callId, size_usd: sizeUsd.toFixed(), usd: usd.toFixed() };
  });
  await prisma.$executeRaw`
    WITH ${LOCKED}
    INSERT INTO call_fee (account, operation, call_id, size_usd, day, usd)
    SELECT account, operation, call_id, size_usd, day, usd
    FROM locked, (
      SELECT *, row_number() OVER (PARTITION BY account, operation, size_usd, day ORDER BY usd DESC) AS nth
      FROM json_populate_recordset(NULL::call_fee, ${JSON.stringify(rows)}::json)
    ) AS f
    WHERE nth <= ${CALLS_TO_LEARN} AND ${CALLS_TO_LEARN} > (
      SELECT count(*) FROM call_fee o
      WHERE o.account = f.account AND o.operation = f.operation AND o.size_usd = f.size_usd
        AND o.day = f.day AND o.usd >= f.usd AND NOT o.forgotten)
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
