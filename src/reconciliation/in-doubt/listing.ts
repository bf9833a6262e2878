import { Client } from 'pg';
import { ofAccount } from '../../journal/records/accounts';
import { CREATING } from '../../operations/items/effects';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { idFloor } from '../../platform/database/uuid';
import { KEYS_LISTED } from '../book/pairing/agreement';
import { hasId } from '../book/sightings';
import { ListedTransaction, RELATED } from './calls-in-doubt';
import { Listing } from './verdict/facts';

/** Margin for wrong clocks before the oldest call in doubt, in which the listing is complete. */
const COMPLETE_BEFORE_MS = 300_000;

/** Lag of the listing. It may lack calls recorded this shortly before the request. */
const LAG_MS = 5_000;

/** Transactions of one kind that the listing must contain by our records. */
interface ExpectedTransactions {
  kind: string;
  missing: number;
  freshUntil: Date | null;
}

/**
 * Reads how complete and recent an account's listing is, by the transactions that it must contain.
 * @param db a dedicated connection, on which the listing was entered in the book. After an outage of days, a
 * shared connection would time out.
 * @param since time at which the oldest call in doubt was sent.
 * @param skewMs maximum error of the upstream's clock.
 */
export async function readListing(
  db: Client,
  account: string,
  read: Pick<Listing, 'readId' | 'requestedAt' | 'oldest'>,
  since: Date,
  skewMs: number,
): Promise<Listing> {
  const expected = await readExpected(db, account, read, since, skewMs);
  const missing = expected.reduce((sum, row) => sum + row.missing, 0);
  const freshUntil = new Map(expected.flatMap(({ kind, freshUntil: at }) => (at ? [[kind, at]] : [])));
  const { rows } = await db.query(
    Prisma.sql`SELECT FROM book_transaction WHERE account = ${account} LIMIT 1`,
  );
  const oldest =
    read.oldest !== null && read.oldest < since ? read.oldest : await readOldest(db, account, read);
  return { ...read, oldest, missing, isOfNewAccount: rows.length === 0, freshUntil };
}

/** Maximum number of listed transactions to look for in our answers, oldest first. */
const MOST_OLDEST = 1_000;

/**
 * Returns when the oldest listed transaction was made, at the latest. One that an answer of ours names is
 * older than the answer. Its own time may be a local one.
 */
async function readOldest(
  db: Client,
  account: string,
  { readId, oldest }: Pick<Listing, 'readId' | 'oldest'>,
): Promise<Date | null> {
  const { rows } = await db.query<{ oldest: Date | null }>(Prisma.sql`
    SELECT least(min(o.answered_at), ${oldest}::timestamptz) AS oldest
    FROM (
      SELECT upstream_ref, upstream_id FROM upstream_transaction WHERE read_id = ${readId}::uuid
      ORDER BY issued_at, ordinal LIMIT ${MOST_OLDEST}
    ) AS t
    CROSS JOIN LATERAL (
      SELECT answered_call FROM book_transaction k WHERE ${hasId(account, Prisma.sql`t.upstream_id`)} LIMIT 1
    ) AS k
    JOIN outcome_item n ON n.intent_id = k.answered_call
      AND (n.upstream_ref, n.upstream_id) = (t.upstream_ref, t.upstream_id)
    JOIN outcome o ON o.intent_id = k.answered_call`);
  return rows[0]?.oldest ?? null;
}

/**
 * Reads, for each kind, the transactions that the listing must contain by our records. They show how complete
 * and recent the listing is.
 */
async function readExpected(
  db: Client,
  account: string,
  { readId, requestedAt }: { readId: string; requestedAt: Date },
  since: Date,
  skewMs: number,
): Promise<ExpectedTransactions[]> {
  const from = new Date(since.getTime() - COMPLETE_BEFORE_MS);
  const first = idFloor(from);
  const before = new Date(requestedAt.getTime() - LAG_MS);
  const margin = `${skewMs} milliseconds`;
  const { rows } = await db.query<ExpectedTransactions>(Prisma.sql`
    WITH listed AS MATERIALIZED (
      SELECT upstream_ref, upstream_id, coalesce(issued_at, '-infinity') AS at
      FROM upstream_transaction WHERE read_id = ${readId}::uuid
    ), expected AS (
      SELECT c.kind, c.always_listed, o.sent_at, o.recorded_at, a.at IS NOT NULL OR b.at IS NOT NULL AS shown,
        -- If the clock is behind, the transaction may have been too old to be kept. If it is ahead, an older
        -- one was kept too.
        coalesce(a.at, b.at) >= o.sent_at - ${margin}::interval AS in_time
      FROM intent i JOIN outcome o ON o.intent_id = i.id JOIN outcome_item n ON n.intent_id = i.id
      JOIN compared_operation c ON c.operation = i.operation
      LEFT JOIN listed a ON a.upstream_ref = n.upstream_ref
      LEFT JOIN listed b ON b.upstream_id = n.upstream_id
      WHERE i.id >= ${first}::uuid AND o.intent_id >= ${first}::uuid AND n.intent_id >= ${first}::uuid
        AND i.operation = ANY (${CREATING}::text[]) AND ${ofAccount('i.client_id', account)}
        AND o.kind = 'succeeded' AND o.sent_at >= ${from}::timestamptz
        AND (n.upstream_ref IS NOT NULL OR n.upstream_id IS NOT NULL)
    )
    SELECT kind, max(sent_at) FILTER (WHERE in_time) AS "freshUntil",
      (count(*) FILTER (WHERE NOT shown AND always_listed AND recorded_at < ${before}::timestamptz))::integer
        AS missing
    FROM expected GROUP BY kind`);
  return rows;
}

/** Reads the transaction of a single lookup. Undefined if the answer had none. */
export async function readSingle(
  prisma: PrismaService,
  readId: string,
  vocabulary: StatusVocabulary,
): Promise<ListedTransaction | undefined> {
  const [row] = await prisma.$queryRaw<Omit<ListedTransaction, 'meaning'>[]>`
    SELECT ${RELATED}, NULL AS position, ${KEYS_LISTED} AS names
    FROM upstream_transaction t WHERE read_id = ${readId}::uuid ORDER BY ordinal LIMIT 1`;
  return row && { ...row, meaning: vocabulary.statusOf(row.status) };
}
