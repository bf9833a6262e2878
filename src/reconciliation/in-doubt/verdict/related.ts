import { Client } from 'pg';
import { namedCallSql, payoutIdOf } from '../../../operations/catalogue/payout-id';
import { CREATED_BY, KNOWN_TYPES } from '../../../operations/items/effects';
import { DATED_BEFORE_MS, ZONE_ERROR_MS } from '../../../operations/lifecycle/upstream-clock';
import { grouped } from '../../../platform/batches';
import { Prisma } from '../../../platform/database/generated/client';
import { unclaimed } from '../../book/candidates';
import { KEYS_LISTED } from '../../book/pairing/agreement';
import { ItemInDoubt, RELATED, RelatedTransaction, SentCall } from '../calls-in-doubt';
import { UnclearTransaction } from './facts';

type UnclearRow = UnclearTransaction & { callId: string; position: number };

/**
 * Finds the payouts in doubt whose transactions the book knows: those with a status that has no meaning, and
 * those of answers that a listing refutes.
 */
export async function findUnclear(db: Client, calls: SentCall[]): Promise<Map<string, UnclearTransaction[]>> {
  const ids = calls.map(({ id }) => id);
  const { rows } = await db.query<UnclearRow>(Prisma.sql`
    SELECT p.call_id::text AS "callId", p.position, "isRefuted", ${RELATED}
    FROM (
      SELECT id, call_id, position, FALSE AS "isRefuted" FROM book_transaction
      WHERE call_id = ANY (${ids}::uuid[])
      UNION ALL
      SELECT transaction_id, call_id, position, TRUE FROM book_contradiction
      WHERE call_id = ANY (${ids}::uuid[]) AND kind <> 'owner'
    ) AS p JOIN book_transaction t USING (id) ORDER BY 1, 2`);
  const open = new Set(
    calls.flatMap(({ id, items }) => items.map(({ position }) => payoutIdOf(id, position))),
  );
  const unclear = rows.filter(({ callId, position }) => open.has(payoutIdOf(callId, position)));
  return grouped(unclear.map(({ callId, ...transaction }) => [callId, transaction]));
}

/** Maximum number of transactions named for each payout. */
const MOST_NAMED = 20;

const BEFORE = Prisma.sql`make_interval(secs => ${DATED_BEFORE_MS / 1_000})`;
const ZONES_BEFORE = Prisma.sql`make_interval(secs => ${ZONE_ERROR_MS / 1_000})`;

/**
 * Finds the transactions without a payout that could be a payout in doubt, changed by the upstream in some
 * way: to the recipient of one in any spelling, with its reference, or with its amount and without a
 * comparable name.
 * @returns the transactions of each call.
 */
export async function findRelated(
  db: Client,
  account: string,
  calls: SentCall[],
): Promise<Map<string, RelatedTransaction[]>> {
  if (calls.length === 0) return new Map();
  const payouts = calls.flatMap((call) =>
    call.items.map((item) => [contentOf(call, item), call.id] as const),
  );
  const contents = [...grouped(payouts)];
  const earliest = new Date(Math.min(...calls.map(({ sentFrom }) => sentFrom.getTime())));
  await db.query('DROP TABLE IF EXISTS loose, doubtful');
  await db.query(makeLoose(account, earliest));
  await db.query('CREATE INDEX ON loose (name); CREATE INDEX ON loose (amount_usd); ANALYZE loose');
  const { rows } = await db.query<RelatedTransaction & { n: number }>(
    selectRelated(contents.map(([content]) => content)),
  );
  const callsOf = (n: number) => [...new Set(contents[n - 1]?.[1])];
  return grouped(rows.flatMap(({ n, ...transaction }) => callsOf(n).map((id) => [id, transaction] as const)));
}

/** Returns the content of a payout in doubt as JSON. Equal ones of a minute share their look-up. */
function contentOf(
  { operation, sentFrom }: SentCall,
  { names, amountUsd: usd, reference }: ItemInDoubt,
): string {
  const { type, incoming } = CREATED_BY.get(operation) ?? {};
  const minute = new Date(Math.floor(sentFrom.getTime() / 60_000) * 60_000);
  return JSON.stringify({ names, usd, reference, type, incoming, sent_from: minute });
}

/** `loose`: the transactions without a payout, one row for each name, or one without a name. */
function makeLoose(account: string, earliest: Date): Prisma.Sql {
  return Prisma.sql`
    CREATE TEMP TABLE loose AS
    SELECT loose_name(key) AS name, u.* FROM (
      SELECT b.id, t.read_id, t.ordinal, t.upstream_ref, t.upstream_id, t.batch_ref, t.issued_at, t.status,
        t.amount_usd, nullif(t.reference, '') AS reference, ${KEYS_LISTED} AS keys,
        CASE WHEN lower(t.type) = ANY (${KNOWN_TYPES}::text[]) THEN lower(t.type) END AS type,
        EXISTS (SELECT FROM intent WHERE id = ${Prisma.raw(namedCallSql('t.reference'))}) AS names_call
      FROM ${unclaimed(account, new Date(earliest.getTime() - 2 * ZONE_ERROR_MS))}
    ) AS u LEFT JOIN LATERAL unnest(u.keys) AS key ON TRUE`;
}

/** The type of a transaction `u` is that of a payout `d`, or unknown. */
const IS_TYPE = Prisma.sql`coalesce(u.type = d.type, TRUE)`;
const IS_AMOUNT = Prisma.sql`u.amount_usd = d.usd`;
const IS_AMOUNT_OR_UNKNOWN = Prisma.sql`coalesce(u.amount_usd = d.usd, TRUE)`;
/** No name of both is of the same kind. A recipient paid by handle may be listed by email address. */
const IS_NOT_COMPARABLE = Prisma.sql`NOT EXISTS (
  SELECT FROM unnest(u.keys) AS a(key), unnest(d.names) AS b(key) WHERE name_kind(a.key) = name_kind(b.key))`;

function selectRelated(contents: string[]): Prisma.Sql {
  return Prisma.sql`
    SELECT DISTINCT ON (d.n, t.id) d.n::integer, NULL AS position, ${RELATED}
    FROM ROWS FROM (json_to_recordset(${`[${contents.join(',')}]`}::json) AS (
      names text[], usd numeric, reference text, type text, incoming boolean, sent_from timestamptz)
    ) WITH ORDINALITY AS d(names, usd, reference, type, incoming, sent_from, n)
    CROSS JOIN LATERAL (
      (SELECT u.* FROM loose u WHERE u.name IN (SELECT loose_name(key) FROM unnest(d.names) AS key)
        AND NOT u.names_call AND (${IS_TYPE} OR ${IS_AMOUNT} AND NOT d.incoming)
        AND coalesce(u.issued_at >= d.sent_from
          - CASE WHEN ${IS_AMOUNT} THEN ${ZONES_BEFORE} ELSE ${BEFORE} END, TRUE)
        LIMIT ${MOST_NAMED})
      UNION ALL
      (SELECT u.* FROM loose u WHERE u.reference = d.reference
        AND (d.incoming OR u.names_call) LIMIT ${MOST_NAMED})
      UNION ALL
      (SELECT u.* FROM loose u WHERE ${IS_AMOUNT} AND NOT u.names_call AND ${IS_TYPE} AND ${IS_NOT_COMPARABLE}
        AND coalesce(u.issued_at >= d.sent_from - ${ZONES_BEFORE}, TRUE) LIMIT ${MOST_NAMED})
      UNION ALL
      (SELECT u.* FROM loose u WHERE u.keys = '{}' AND NOT u.names_call AND ${IS_TYPE}
        AND ${IS_AMOUNT_OR_UNKNOWN}
        AND coalesce(u.issued_at >= d.sent_from - ${ZONES_BEFORE}, TRUE) LIMIT ${MOST_NAMED})
    ) AS t
    ORDER BY d.n, t.id`;
}
