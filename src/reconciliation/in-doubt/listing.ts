import { Client } from 'pg';
import { Transaction } from '../../gateway/upstream/answers/transactions';
import { ofAccount } from '../../journal/records/accounts';
import { namedCallSql } from '../../operations/catalogue/payout-id';
import { CREATED_BY, CREATING } from '../../operations/items/effects';
import { recipientNames } from '../../operations/items/item';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { uuidFloor } from '../../platform/database/uuid';
import { asRecorded, writtenNumbers } from '../../platform/privacy/recorded';
import { ListedTransaction } from './calls-in-doubt';
import { ShownIds, IdObservation } from './shown-ids';
import { Batches, Listing } from './verdict/batches';
import { Effort, mapped } from './work';

/** Margins for wrong clocks before the oldest call in doubt: of the listing, and of its complete part. */
export const READ_BEFORE_MS = 600_000;
const COMPLETE_BEFORE_MS = 300_000;

/** Lag of the listing. It may lack calls recorded this shortly before the request. */
const LAG_MS = 5_000;

/** Maximum time between an ID and its record. */
const ID_MARGIN_MS = 3_600_000;

type OmittedFields = 'amountUsd' | 'feeUsd' | 'country' | 'networkCode' | 'recipients';

interface ListedRow extends Omit<Transaction, OmittedFields> {
  ordinal: bigint;
  usd: string | null;
  namedCallId: string | null;
}

const COLUMNS = Prisma.sql`ordinal, upstream_ref AS "upstreamRef", upstream_id AS "upstreamId",
  batch_ref AS "batchRef", issued_at AS "issuedAt", type, status,
  amount_usd::text AS usd, email, phone, handle, receiver, reference,
  (SELECT id::text FROM intent WHERE id = ${Prisma.raw(namedCallSql('reference'))}) AS "namedCallId"`;

/** Transactions of one operation that the listing must contain by our records. */
interface ExpectedTransactions {
  operation: string;
  missing: number;
  freshUntil: Date | null;
}

const CERTAINLY_LISTED = CREATING.filter((operation) => CREATED_BY.get(operation)?.alwaysListed === true);

/**
 * Reads the part of an account's listing that matters for calls in doubt.
 * @param db a dedicated connection. After an outage of days, a shared connection would time out.
 * @param since time at which the oldest call in doubt was sent.
 * @param inDoubt IDs of these calls. They may claim transactions that only their own answers name.
 * @param skewMs maximum error of the upstream's clock.
 */
export async function readListing(
  db: Client,
  account: string,
  read: Pick<Listing, 'readId' | 'requestedAt' | 'oldest'>,
  since: Date,
  inDoubt: string[],
  skewMs: number,
  vocabulary: StatusVocabulary,
  effort: Effort,
): Promise<Listing> {
  const rows = await readUnclaimed(db, account, read.readId, since, inDoubt);
  const transactions = await effort.all(mapped(rows, (row) => toListed(read.readId, row, vocabulary)));
  const shownIds = new ShownIds();
  await shownIds.add(read.readId, async (statement) => (await db.query<IdObservation>(statement)).rows);
  const unclaimed = await effort.all(Batches.of(transactions, shownIds.operations));
  const expected = await readExpected(db, account, read, since, skewMs);
  const missing = expected.reduce((sum, row) => sum + row.missing, 0);
  return { ...read, unclaimed, missing, freshUntil: newestByKind(expected) };
}

/** Returns the newest time of each kind. Operations can share a kind, and some answers name none. */
function newestByKind(expected: ExpectedTransactions[]): Map<string, Date> {
  const newest = new Map<string, Date>();
  for (const { operation, freshUntil } of expected) {
    const kind = CREATED_BY.get(operation)?.name;
    if (kind === undefined || freshUntil === null) continue;
    const before = newest.get(kind);
    if (before === undefined || before < freshUntil) newest.set(kind, freshUntil);
  }
  return newest;
}

/** Returns the query `claimed`: the transactions that calls claim by their answers and settlements. */
function claimedBy(account: string, from: Date, inDoubt: string[]): Prisma.Sql {
  const first = uuidFloor(from);
  const isOurs = ofAccount('i.client_id', account);
  return Prisma.sql`approved AS MATERIALIZED (
      -- Requested earlier.
      SELECT i.id FROM decision d
      CROSS JOIN LATERAL (SELECT id, client_id, operation FROM intent WHERE id = d.intent_id OFFSET 0) AS i
      WHERE d.decided_at >= ${from}::timestamptz AND d.intent_id < ${first}::uuid
        AND i.operation = ANY (${CREATING}::text[]) AND ${isOurs}
    ), claimed AS MATERIALIZED (
      SELECT o.intent_id, o.upstream_ref, o.upstream_id, o.batch_ref
      FROM intent i JOIN outcome_item o ON o.intent_id = i.id
      WHERE i.id >= ${first}::uuid AND o.intent_id >= ${first}::uuid
        AND i.operation = ANY (${CREATING}::text[])
        AND i.id <> ALL (${inDoubt}::uuid[]) AND ${isOurs}
      UNION ALL
      SELECT o.* FROM approved CROSS JOIN LATERAL (
        SELECT intent_id, upstream_ref, upstream_id, batch_ref
        FROM outcome_item WHERE intent_id = approved.id OFFSET 0
      ) AS o
      WHERE approved.id <> ALL (${inDoubt}::uuid[])
      UNION ALL
      -- Transactions of a call in doubt that settled some of its payouts.
      SELECT n.intent_id, n.upstream_ref, n.upstream_id, n.batch_ref
      FROM outcome o JOIN outcome_item n ON n.intent_id = o.intent_id
      CROSS JOIN LATERAL (SELECT client_id FROM intent WHERE id = o.intent_id OFFSET 0) AS i
      CROSS JOIN LATERAL (SELECT o.record::json -> 'entries' AS entries) AS answer
      WHERE o.intent_id = ANY (${inDoubt}::uuid[]) AND ${isOurs} AND n.position IS NOT NULL
        AND coalesce(answer.entries ->> n.position, answer.entries #>> '{}') <> 'in_doubt'
      UNION ALL
      -- A person's settlement may name a transaction of another call.
      SELECT s.intent_id, t.upstream_ref, t.upstream_id, t.batch_ref FROM settlement s
      CROSS JOIN LATERAL (SELECT client_id FROM intent WHERE id = s.intent_id OFFSET 0) AS i
      CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries')
        AS t(upstream_ref text, upstream_id text, batch_ref text)
      WHERE s.id >= ${first}::uuid AND s.record::json ->> 'source' <> 'person'
        AND coalesce(t.upstream_ref, t.upstream_id, t.batch_ref) IS NOT NULL AND ${isOurs}
    )`;
}

/**
 * Reads the transactions that no call claims. Only operations that create transactions own them. Others name
 * a transaction of another call.
 */
async function readUnclaimed(
  db: Client,
  account: string,
  readId: string,
  since: Date,
  inDoubt: string[],
): Promise<ListedRow[]> {
  const claimed = claimedBy(account, new Date(since.getTime() - READ_BEFORE_MS - ID_MARGIN_MS), inDoubt);
  const { rows } = await db.query<ListedRow>(Prisma.sql`
    WITH ${claimed}, named AS (
      SELECT batch_ref, sum(item_count) AS items FROM (
        SELECT DISTINCT c.batch_ref, i.id, i.item_count FROM claimed c
        CROSS JOIN LATERAL (SELECT id, item_count FROM intent WHERE id = c.intent_id OFFSET 0) AS i
        WHERE c.upstream_ref IS NULL AND c.upstream_id IS NULL AND c.batch_ref IS NOT NULL
      ) AS calls GROUP BY batch_ref
    ), batch AS MATERIALIZED (
      -- Two calls may share a batch_ref, which consists of a sum and a time. It decides only without a better
      -- name, and only if the batch has no more transactions than were requested.
      SELECT t.batch_ref FROM upstream_transaction t JOIN named n ON n.batch_ref = t.batch_ref
      WHERE t.read_id = ${readId}::uuid
      GROUP BY t.batch_ref, n.items HAVING count(*) <= n.items
    )
    SELECT ${COLUMNS}
    FROM upstream_transaction t
    WHERE read_id = ${readId}::uuid
      AND NOT EXISTS (SELECT FROM claimed c WHERE c.upstream_ref = t.upstream_ref)
      AND NOT EXISTS (SELECT FROM claimed c WHERE c.upstream_id = t.upstream_id)
      AND NOT EXISTS (SELECT FROM batch b WHERE b.batch_ref = t.batch_ref)
    ORDER BY issued_at, ordinal`); // Batches expects this order.
  return rows;
}

/**
 * Reads, for each operation, the transactions that the listing must contain by our records. They show how
 * complete and recent the listing is.
 */
async function readExpected(
  db: Client,
  account: string,
  { readId, requestedAt }: { readId: string; requestedAt: Date },
  since: Date,
  skewMs: number,
): Promise<ExpectedTransactions[]> {
  const from = new Date(since.getTime() - COMPLETE_BEFORE_MS);
  const first = uuidFloor(new Date(from.getTime() - ID_MARGIN_MS));
  const before = new Date(requestedAt.getTime() - LAG_MS);
  const margin = `${skewMs} milliseconds`;
  const { rows } = await db.query<ExpectedTransactions>(Prisma.sql`
    WITH listed AS MATERIALIZED (
      SELECT upstream_ref, upstream_id, coalesce(issued_at, '-infinity') AS at
      FROM upstream_transaction WHERE read_id = ${readId}::uuid
    ), expected AS (
      SELECT i.operation, o.sent_at, o.recorded_at, a.at IS NOT NULL OR b.at IS NOT NULL AS shown,
        -- If the clock is wrong, the transaction may have been too old or too new to be kept.
        coalesce(a.at, b.at)
          BETWEEN o.sent_at - ${margin}::interval AND o.recorded_at + ${margin}::interval AS in_time
      FROM intent i JOIN outcome o ON o.intent_id = i.id JOIN outcome_item n ON n.intent_id = i.id
      LEFT JOIN listed a ON a.upstream_ref = n.upstream_ref
      LEFT JOIN listed b ON b.upstream_id = n.upstream_id
      WHERE i.id >= ${first}::uuid AND o.intent_id >= ${first}::uuid AND n.intent_id >= ${first}::uuid
        AND i.operation = ANY (${CREATING}::text[]) AND ${ofAccount('i.client_id', account)}
        AND o.kind = 'succeeded' AND o.sent_at >= ${from}::timestamptz
        AND (n.upstream_ref IS NOT NULL OR n.upstream_id IS NOT NULL)
    )
    SELECT operation,
      (count(*) FILTER (WHERE NOT shown AND operation = ANY (${CERTAINLY_LISTED}::text[])
        AND recorded_at < ${before}::timestamptz))::integer AS missing,
      max(sent_at) FILTER (WHERE in_time) AS "freshUntil"
    FROM expected GROUP BY operation`);
  return rows;
}

/** Reads some transactions of a reading, in the order that `Batches` expects. */
export async function readListed(
  prisma: PrismaService,
  readId: string,
  ordinals: bigint[],
  vocabulary: StatusVocabulary,
): Promise<ListedTransaction[]> {
  const rows = await prisma.$queryRaw<ListedRow[]>`
    SELECT ${COLUMNS} FROM upstream_transaction
    WHERE read_id = ${readId}::uuid AND ordinal = ANY (${ordinals}::bigint[]) ORDER BY issued_at, ordinal`;
  return rows.map((row) => toListed(readId, row, vocabulary));
}

/** Reads the transaction of a single lookup. Undefined if the answer had none. */
export async function readSingle(
  prisma: PrismaService,
  readId: string,
  vocabulary: StatusVocabulary,
): Promise<ListedTransaction | undefined> {
  const [row] = await prisma.$queryRaw<ListedRow[]>`
    SELECT ${COLUMNS}
    FROM upstream_transaction WHERE read_id = ${readId}::uuid ORDER BY ordinal LIMIT 1`;
  return row && toListed(readId, row, vocabulary);
}

function toListed(readId: string, listed: ListedRow, vocabulary: StatusVocabulary): ListedTransaction {
  const { ordinal, usd, reference, email, phone, handle, receiver, ...row } = listed;
  return {
    readId,
    ordinal: Number(ordinal),
    meaning: vocabulary.statusOf(row.status),
    amountUsd: usd,
    names: recipientNames({ recipientField: null, email, phone, handle, receiver }).map(({ key }) => key),
    references: reference ? formsOf(reference, phone) : [],
    ...row,
  };
}

/** Returns the forms of a reference in records, which mask contacts, also the recipient's without its `+`. */
function formsOf(reference: string, phone: string | null): string[] {
  const numbers = writtenNumbers(phone === null ? [] : [phone]);
  return [...new Set([reference, asRecorded(reference), asRecorded(reference, numbers)])];
}
