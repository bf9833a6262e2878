import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { BookTransactionRecord } from './attributions.dto';

/** Maximum number of shown transactions. */
const AT_MOST = 200;

export interface BookFilter {
  account: string;
  name: string | undefined;
  callId: string | undefined;
}

/** Reads transactions of the book: by name, of a call, or the newest without a payout. */
export function readTransactions(
  prisma: ReaderPrisma,
  { account, name, callId }: BookFilter,
): Promise<BookTransactionRecord[]> {
  const named =
    name === undefined
      ? Prisma.sql`book_transaction`
      : Prisma.sql`transactions_named(${account}::text, ${name}::text)`;
  const filter =
    callId !== undefined
      ? Prisma.sql`call_id = ${callId}::uuid`
      : name === undefined
        ? Prisma.sql`call_id IS NULL`
        : Prisma.sql`TRUE`;
  return prisma.$queryRaw<BookTransactionRecord[]>`
    SELECT id::text, upstream_ref, upstream_id, batch_ref, issued_at,
      trim_scale(amount_usd)::text AS amount_usd, trim_scale(fee_usd)::text AS fee_usd, status,
      call_id || '.' || position AS payout_id, ground, attributed_at
    FROM ${named} AS b WHERE account = ${account} AND ${filter}
    ORDER BY issued_at DESC, shown_at DESC, id DESC LIMIT ${AT_MOST}`;
}
