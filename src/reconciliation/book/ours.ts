import { Client } from 'pg';
import { ofAccount } from '../../journal/records/accounts';
import { itemsSql } from '../../journal/records/document-sql';
import { entriesThat } from '../../operations/lifecycle/entries';
import { ARRIVED } from '../../operations/lifecycle/lifecycle';
import { RECORDED_STATE } from '../../operations/lifecycle/lifecycle-sql';
import { UNVERIFIED_REJECTION } from '../../operations/lifecycle/rejections';
import { Prisma } from '../../platform/database/generated/client';
import { idCeiling, idFloor, uuidTime } from '../../platform/database/uuid';
import { runAll } from './connection';
import { ITEMS_OF_CALL } from './items-of-call';
import { COMPARED, NOT_COMPARED, Plan, withMargin } from './plan';

/** Lowest and highest ID of the calls to read. They let the planner skip partitions. */
export interface CallIdRange {
  low: string;
  high: string;
}

/** `run_call`: each admitted call of the account that may have paid, in its state at the run's `as_of`. */
export function makeCalls(plan: Plan): Prisma.Sql {
  const margin = withMargin(plan.from, plan.to, plan.settings);
  const [first, next] = [idFloor(margin.from), idCeiling(margin.to)];
  const inside = (id: Prisma.Sql) => Prisma.sql`${id} >= ${first}::uuid AND ${id} < ${next}::uuid`;
  const releasedLater = Prisma.sql`i.id IN (
        SELECT intent_id FROM decision d
        WHERE kind IN ('approved', 'released') AND intent_id < ${first}::uuid
          AND d.decided_at >= ${uuidTime(first)}::timestamptz AND d.decided_at < ${margin.to}::timestamptz)`;
  return Prisma.sql`
    CREATE TEMP TABLE run_call AS
    SELECT * FROM (
      ${calls(plan, inside(Prisma.sql`i.id`), inside(Prisma.sql`o.intent_id`))}
      UNION ALL
      -- Approved or released in this period, but requested days earlier.
      ${calls(plan, releasedLater)}
    ) AS calls
    WHERE at >= ${margin.from}::timestamptz AND at < ${margin.to}::timestamptz`;
}

/** Selects the calls of the period that are in doubt and are not compared. */
export function otherDoubts(plan: Plan): Prisma.Sql {
  const which = Prisma.sql`i.id >= ${idFloor(plan.from)}::uuid AND i.id < ${idCeiling(plan.to)}::uuid`;
  return Prisma.sql`
    SELECT c.call_id, c.operation, c.at, i.total_usd AS usd
    FROM (${calls(plan, which, Prisma.sql`TRUE`, NOT_COMPARED)}) AS c JOIN intent i ON i.id = c.call_id
    WHERE c.outcome = 'unknown'
      AND c.at >= ${plan.from}::timestamptz AND c.at < ${plan.to}::timestamptz`;
}

/** `run_call` with these calls only. */
export function makeCallsWith(plan: Plan, ids: string[]): Prisma.Sql {
  return Prisma.sql`CREATE TEMP TABLE run_call AS ${calls(plan, Prisma.sql`i.id = ANY (${ids}::uuid[])`)}`;
}

/** Adds the calls in `distant_call`. */
export function addDistantCalls(plan: Plan): Prisma.Sql {
  const distant = Prisma.sql`i.id IN (SELECT call_id FROM distant_call)
    AND i.id NOT IN (SELECT call_id FROM run_call)`;
  return Prisma.sql`INSERT INTO pg_temp.run_call ${calls(plan, distant)}`;
}

/**
 * Selects calls. A call without an outcome at that time counts as in doubt, whatever its age. `usual` is the
 * entry of payouts without a more specific one. `entries` is null if the answer states no other entry, which
 * its text shows. Parsing each record takes ten times as long.
 */
function calls(
  { account, asOf }: Plan,
  which: Prisma.Sql,
  whichOutcomes = Prisma.sql`TRUE`,
  operations: string[] = COMPARED,
): Prisma.Sql {
  const then = Prisma.sql`${asOf}::timestamptz`;
  return Prisma.sql`
    SELECT call_id, operation, at, answered, item_count, outcome, usual_entry(outcome) AS usual,
      -- Quotes within the texts of a record are escaped, so only the member itself matches.
      CASE WHEN strpos(record, '"entries":"' || usual_entry(outcome) || '"') = 0
        THEN record::json -> 'entries' END AS entries
    FROM (
      SELECT i.id AS call_id, i.operation, coalesce(o.sent_at, d.decided_at, i.recorded_at) AS at,
        state_at(${RECORDED_STATE}, NULL, NULL, i.recorded_at, ${then}, NULL, 'infinity') AS outcome,
        o.intent_id IS NOT NULL AS answered, i.item_count, o.record
      FROM intent i
      LEFT JOIN outcome o ON o.intent_id = i.id AND o.recorded_at <= ${then} AND ${whichOutcomes}
      LEFT JOIN decision d ON d.intent_id = i.id AND d.decided_at <= ${then}
      -- The settlement that was in effect at that time.
      LEFT JOIN settlement s ON s.intent_id = i.id AND s.recorded_at <= ${then}
        AND NOT EXISTS (SELECT FROM settlement later
          WHERE later.intent_id = i.id AND later.number > s.number AND later.recorded_at <= ${then})
      WHERE ${which} AND i.recorded_at <= ${then} AND i.operation = ANY (${operations}::text[])
        AND ${ofAccount('i.client_id', account)}
      OFFSET 0 -- Otherwise the planner would repeat the state wherever it is used.
    ) AS call
    WHERE outcome = ANY (${ARRIVED}::text[])`;
}

/**
 * Recipient of an item. The email has precedence over the handle (docs/reference/upstream.md, "Credit item").
 */
const KEY = Prisma.sql`coalesce(recipient_key('email', i.email), recipient_key('phone', i.phone),
  recipient_key('handle', nullif(i.handle, '')), recipient_key('receiver', i.receiver))`;

/** Items of the answer as JSON. Null if empty. */
const ANSWERED_ITEMS = Prisma.sql`nullif(${Prisma.raw(itemsSql('outcome', 'outcome.record'))}, '')::jsonb`;

/** Payouts of one call, with their recipients and transactions. */
const PAYOUTS = Prisma.sql`
  SELECT i.*, x.upstream_ref, x.upstream_id FROM (${ITEMS_OF_CALL}) AS i
  LEFT JOIN jsonb_to_recordset(${ANSWERED_ITEMS})
    AS x(position integer, upstream_ref text, upstream_id text) ON x.position = i.position`;

/** Entries of payouts whose money has left, or will. */
export const MOVED = entriesThat(({ counts, known }) => counts && known);
/** Entries of payouts in doubt. A payout without an outcome counts as in doubt (`calls`). */
export const IN_DOUBT = entriesThat(({ known }) => !known);
/** Entries with which a link or a collection may still be paid. */
const OPEN = [...IN_DOUBT, ...entriesThat(({ account }) => account === 'in_transit')];

/**
 * Whether an answer rejects the call, which makes its execution less likely. Its members are never quoted.
 */
const IS_REJECTED = Prisma.sql`strpos(outcome.record, ${`"failure":"${UNVERIFIED_REJECTION}"`}) > 0`;

/**
 * `ours`: the payments of `run_call`. `moved` is whether money moved by our records. Null if they cannot show
 * it.
 * @param ids the smallest and largest ID of the calls, which let the planner skip partitions.
 */
function selectOurs({ from, to, settings }: Plan, { low, high }: CallIdRange): Prisma.Sql {
  const inside = (id: Prisma.Sql) => Prisma.sql`${id} BETWEEN ${low}::uuid AND ${high}::uuid`;
  const entry = Prisma.sql`coalesce(e.entry, c.usual)`;
  return Prisma.sql`
    SELECT c.call_id, i.position, c.operation, p.kind, c.at, c.outcome, ${entry} AS entry, ${KEY} AS key,
      nullif(i.reference, '') AS reference,
      CASE WHEN p.incoming THEN NULL ELSE i.amount_usd END::numeric(20,6) AS usd,
      coalesce(i.upstream_ref, v.upstream_ref) AS upstream_ref,
      coalesce(i.upstream_id, v.upstream_id) AS upstream_id,
      c.at >= ${from}::timestamptz AND c.at < ${to}::timestamptz AS in_period,
      (c.at AT TIME ZONE 'UTC')::date AS day, p.incoming,
      CASE WHEN p.paid_at_once OR ${entry} <> ALL (${OPEN}::text[])
        THEN ${entry} = ANY (${MOVED}::text[]) END AS moved,
      -- A numeric division could have any number of decimals. A percentage is a product.
      CASE WHEN p.takes_fee
        THEN round(i.amount_usd * ${settings.feePercent}::numeric * 0.01, 6)
        ELSE 0 END AS fee,
      CASE WHEN ${entry} = ANY (${MOVED}::text[]) THEN 1
        WHEN ${entry} = ANY (${IN_DOUBT}::text[]) AND NOT coalesce(${IS_REJECTED}, FALSE) THEN 2
        WHEN ${entry} = ANY (${IN_DOUBT}::text[]) THEN 3
        WHEN c.outcome <> 'not_executed' THEN 4
        ELSE 5 END AS tier
    FROM run_call c
    JOIN compared_operation p ON p.operation = c.operation
    JOIN intent ON intent.id = c.call_id AND ${inside(Prisma.sql`intent.id`)}
    LEFT JOIN intent_body ON intent_body.intent_id = c.call_id
      AND ${inside(Prisma.sql`intent_body.intent_id`)}
    LEFT JOIN outcome ON outcome.intent_id = c.call_id
      AND ${inside(Prisma.sql`outcome.intent_id`)} AND c.answered
    CROSS JOIN LATERAL (${PAYOUTS}) AS i
    LEFT JOIN run_evidence v ON v.call_id = c.call_id AND v.position = i.position
    LEFT JOIN run_entry e ON e.call_id = c.call_id AND e.position = i.position`;
}

const ALL = Prisma.sql`TRUE`;
const OF_DISTANT = Prisma.sql`c.call_id IN (SELECT call_id FROM distant_call)`;

/**
 * `run_evidence`: the transactions in the newest settlement of each payout. They count like an answer's.
 * `stated` if a late answer or a person states them, and no rule found them.
 */
const selectEvidence = ({ asOf }: Plan, which: Prisma.Sql) => Prisma.sql`
  SELECT DISTINCT ON (c.call_id, f.position)
    c.call_id, f.position, f.upstream_ref, f.upstream_id, f.batch_ref,
    s.record::json ->> 'source' IN ('answer', 'person') AS stated
  FROM run_call c JOIN settlement s ON s.intent_id = c.call_id
  CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries')
    AS f(position integer, upstream_ref text, upstream_id text, batch_ref text)
  WHERE s.recorded_at <= ${asOf}::timestamptz AND coalesce(f.upstream_ref, f.upstream_id) IS NOT NULL
    AND ${which}
  ORDER BY c.call_id, f.position, s.number DESC`;

/** `run_entry`: the last entries of the payouts that do not have the usual one of their call. */
const selectEntries = ({ asOf }: Plan, which: Prisma.Sql) => Prisma.sql`
  SELECT c.call_id, e.pos AS position, e.entry
  FROM run_call c LEFT JOIN settlement s ON s.intent_id = c.call_id AND s.number = 1
  CROSS JOIN LATERAL last_entries(c.call_id, c.entries, c.item_count, c.usual, ${asOf}::timestamptz) AS e
  WHERE (c.entries IS NOT NULL OR s.intent_id IS NOT NULL) AND ${which}`;

const makeSettled = (plan: Plan) => [
  Prisma.sql`CREATE TEMP TABLE run_evidence AS ${selectEvidence(plan, ALL)}`,
  Prisma.sql`CREATE TEMP TABLE run_entry AS ${selectEntries(plan, ALL)}`,
];

/** Adds those of the calls in `distant_call`. */
export const addSettled = (plan: Plan) => [
  Prisma.sql`INSERT INTO pg_temp.run_evidence ${selectEvidence(plan, OF_DISTANT)}`,
  Prisma.sql`INSERT INTO pg_temp.run_entry ${selectEntries(plan, OF_DISTANT)}`,
];

const makeOurs = (plan: Plan, ids: CallIdRange) => Prisma.sql`
  CREATE TEMP TABLE ours AS
  SELECT row_number() OVER ()::integer AS n, o.* FROM (${selectOurs(plan, ids)}) AS o`;

/** Adds the payments of the calls in `distant_call`. */
export const addOurs = (plan: Plan, ids: CallIdRange) => Prisma.sql`
  WITH added AS (
    INSERT INTO pg_temp.ours
    SELECT (SELECT coalesce(max(n), 0) FROM ours) + row_number() OVER ()::integer, o.*
    FROM (${selectOurs(plan, ids)} WHERE ${OF_DISTANT} AND c.call_id NOT IN (SELECT call_id FROM ours)) AS o
    RETURNING *
  )
  INSERT INTO pg_temp.unmatched_ours SELECT * FROM added`;

const NO_IDS: CallIdRange = {
  low: '00000000-0000-0000-0000-000000000000',
  high: '00000000-0000-0000-0000-000000000000',
};

/**
 * `ours`: the payouts of some calls.
 * @param calls makes `run_call`.
 */
export async function readPayouts(db: Client, plan: Plan, calls: Prisma.Sql): Promise<CallIdRange> {
  const analyze = Prisma.sql`ANALYZE run_call; ANALYZE run_evidence; ANALYZE run_entry`;
  await runAll(db, [calls, ...makeSettled(plan), analyze]);
  const ids = await idsIn(db, Prisma.sql`run_call`);
  await runAll(db, [makeOurs(plan, ids), Prisma.sql`ANALYZE ours`]);
  return ids;
}

/** Returns the lowest and highest ID as text: Postgres before 18 has no min(uuid). Hex digits sort alike. */
export async function idsIn(db: Client, table: Prisma.Sql): Promise<CallIdRange> {
  const { rows } = await db.query<{ low: string | null; high: string | null }>(
    Prisma.sql`SELECT min(call_id::text COLLATE "C") AS low, max(call_id::text COLLATE "C") AS high
      FROM ${table}`,
  );
  const { low = null, high = null } = rows[0] ?? {};
  return low === null || high === null ? NO_IDS : { low, high };
}
