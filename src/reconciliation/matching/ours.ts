import { itemsSql } from '../../journal/document-sql';
import { ARRIVED, EXECUTED } from '../../operations/lifecycle';
import { COUNTED } from '../../operations/settlement';
import { RECORDED_STATE } from '../../operations/lifecycle-sql';
import { uuidFloor } from '../../platform/database/uuid';
import { withMargin } from './run-settings';
import { COMPARED, NOT_COMPARED } from './compared-operations';
import { decimal, instant, texts, uuid } from './literals';
import { isCallOf } from './account-sql';
import { Plan } from './plan';
import { emailKey, handleKey, phoneKey, receiverKey } from './recipients';

/** The calls to read: those whose IDs are of a period, or those in the table `far_call`. */
export interface Ids {
  low: string;
  high: string;
}

/**
 * The longest time between making a call's ID and recording it. A body may take a minute to arrive, and clocks differ.
 */
const HOUR_MS = 3_600_000;

/** `run_call`: each call of the account that was admitted and may have paid somebody, as it stood at the run's `as_of`. */
export function makeCalls(plan: Plan): string {
  const margin = withMargin(plan.from, plan.to, plan.settings);
  const low = new Date(margin.from.getTime() - HOUR_MS);
  const [first, next] = [low, new Date(margin.to.getTime() + HOUR_MS)].map((at) => uuid(uuidFloor(at)));
  const inside = (id: string) => `${id} >= ${first} AND ${id} < ${next}`;
  const released = `d.decided_at >= ${instant(low)} AND d.decided_at < ${instant(margin.to)}`;
  return `
    CREATE TEMP TABLE run_call AS
    SELECT * FROM (
      ${calls(plan, inside('i.id'), inside('o.intent_id'))}
      UNION ALL
      -- Approved in this period, and requested days earlier.
      ${calls(plan, `i.id IN (SELECT intent_id FROM decision d WHERE kind = 'approved' AND intent_id < ${first} AND ${released})`)}
    ) AS calls
    WHERE at >= ${instant(margin.from)} AND at < ${instant(margin.to)}`;
}

/** The calls of the period that are in doubt and are not compared. */
export function otherDoubts(plan: Plan): string {
  const [first, next] = [plan.from.getTime() - HOUR_MS, plan.to.getTime() + HOUR_MS].map((at) =>
    uuid(uuidFloor(new Date(at))),
  );
  const which = `i.id >= ${first} AND i.id < ${next}`;
  return `
    SELECT c.call_id, c.operation, c.at, i.total_usd AS usd
    FROM (${calls(plan, which, 'TRUE', NOT_COMPARED)}) AS c JOIN intent i ON i.id = c.call_id
    WHERE c.outcome = 'unknown' AND c.at >= ${instant(plan.from)} AND c.at < ${instant(plan.to)}`;
}

/** Adds the calls in `far_call`. */
export function addFarCalls(plan: Plan): string {
  return `INSERT INTO pg_temp.run_call
    ${calls(plan, 'i.id IN (SELECT call_id FROM far_call) AND i.id NOT IN (SELECT call_id FROM run_call)')}`;
}

/** A call without an outcome at that time counts as in doubt, however young it was. */
function calls({ account, asOf }: Plan, which: string, whichOutcomes = 'TRUE', operations = COMPARED): string {
  const then = instant(asOf);
  return `
    SELECT call_id, operation, at, state_at(state, NULL, NULL, at, ${then}, NULL, 'infinity') AS outcome, answered
    FROM (SELECT i.id AS call_id, i.operation, coalesce(o.sent_at, d.decided_at, i.recorded_at) AS at,
      ${RECORDED_STATE.sql} AS state, o.intent_id IS NOT NULL AS answered
    FROM intent i
    LEFT JOIN outcome o ON o.intent_id = i.id AND o.recorded_at <= ${then} AND ${whichOutcomes}
    LEFT JOIN decision d ON d.intent_id = i.id AND d.decided_at <= ${then}
    -- The settlement that was in effect at that time.
    LEFT JOIN settlement s ON s.intent_id = i.id AND s.recorded_at <= ${then}
      AND NOT EXISTS (SELECT FROM settlement later WHERE later.intent_id = i.id AND later.number > s.number AND later.recorded_at <= ${then})
    WHERE ${which} AND i.recorded_at <= ${then} AND i.operation IN (${operations}) AND ${isCallOf('i.client_id', account)}) AS call
    WHERE state IN (${texts(ARRIVED)})`;
}

/** The recipient of an item. The email has precedence over the handle (docs/reference/upstream.md, "Credit item"). */
const KEY = `coalesce(${emailKey('i.email')}, ${phoneKey('i.phone')}, ${handleKey("nullif(i.handle, '')")}, ${receiverKey('i.receiver')})`;

/** The items of a record as JSON. Null if it has none. */
const itemsOf = (table: 'intent' | 'outcome') => `nullif(${itemsSql(table, `${table}.record`)}, '')::jsonb`;

/**
 * The payouts of one call, with their recipients and their transactions. The views `intent_item`, `item_recipient` and
 * `outcome_item` would each expand the documents of all calls, and the results would be sorted to be joined.
 */
const PAYOUTS = `
  SELECT (n.place - 1)::integer AS position, n.amount_usd, n.reference, n.receiver, r.email, r.phone, r.handle, x.upstream_ref, x.upstream_id
  FROM ROWS FROM (jsonb_to_recordset(${itemsOf('intent')}) AS (amount_usd numeric, reference text, receiver text))
    WITH ORDINALITY AS n(amount_usd, reference, receiver, place)
  LEFT JOIN jsonb_to_recordset(intent_body.people::jsonb) AS r(position integer, email text, phone text, handle text) ON r.position = n.place - 1
  LEFT JOIN jsonb_to_recordset(${itemsOf('outcome')}) AS x(position integer, upstream_ref text, upstream_id text) ON x.position = n.place - 1`;

/**
 * `ours`: the payments of `run_call`. `moved` says whether money moved by our records. Null if they cannot say.
 * @param ids the smallest and the largest ID of the calls, so that the planner leaves out partitions.
 */
function selectOurs({ from, to, settings }: Plan, { low, high }: Ids): string {
  const inside = (id: string) => `${id} BETWEEN ${uuid(low)} AND ${uuid(high)}`;
  return `
    SELECT c.call_id, i.position, c.operation, c.at, c.outcome, ${KEY} AS key, nullif(i.reference, '') AS reference,
      CASE WHEN p.incoming THEN NULL ELSE i.amount_usd END::numeric(20,6) AS usd, coalesce(i.upstream_ref, v.upstream_ref) AS upstream_ref, coalesce(i.upstream_id, v.upstream_id) AS upstream_id,
      c.at >= ${instant(from)} AND c.at < ${instant(to)} AS in_period,
      (c.at AT TIME ZONE 'UTC')::date AS day, p.incoming,
      CASE WHEN p.paid_at_once THEN coalesce(e.entry IN (${texts(COUNTED)}), c.outcome IN (${texts(EXECUTED)})) END AS moved,
      -- A numeric division could have any number of decimals. A percentage is a product.
      CASE WHEN p.takes_fee THEN round(i.amount_usd * ${decimal(settings.feePercent)} * 0.01, 6) ELSE 0 END AS fee,
      CASE WHEN c.outcome IN (${texts(EXECUTED)}) THEN 1 WHEN c.outcome = 'unknown' THEN 2 WHEN c.outcome = 'rejected' THEN 3 ELSE 4 END AS tier
    FROM run_call c
    JOIN compared_operation p ON p.operation = c.operation
    JOIN intent ON intent.id = c.call_id AND ${inside('intent.id')}
    LEFT JOIN intent_body ON intent_body.intent_id = c.call_id AND ${inside('intent_body.intent_id')}
    LEFT JOIN outcome ON outcome.intent_id = c.call_id AND ${inside('outcome.intent_id')} AND c.answered
    CROSS JOIN LATERAL (${PAYOUTS}) AS i
    LEFT JOIN run_evidence v ON v.call_id = c.call_id AND v.position = i.position
    LEFT JOIN run_entry e ON e.call_id = c.call_id AND e.position = i.position`;
}

/**
 * `run_evidence`: the transactions in the newest settlement of each payout. They count like those of an answer.
 */
export function makeEvidence({ asOf }: Plan): string {
  return `
    CREATE TEMP TABLE run_evidence AS
    SELECT DISTINCT ON (c.call_id, f.position) c.call_id, f.position, f.upstream_ref, f.upstream_id, f.batch_ref
    FROM run_call c JOIN settlement s ON s.intent_id = c.call_id
    CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries') AS f(position integer, upstream_ref text, upstream_id text, batch_ref text)
    WHERE s.recorded_at <= ${instant(asOf)} AND coalesce(f.upstream_ref, f.upstream_id) IS NOT NULL
    ORDER BY c.call_id, f.position, s.number DESC`;
}

/**
 * `run_entry`: what became of the payouts whose answers or settlements say more than that of their call. An answer whose
 * call counts less than its total has failed payouts.
 */
export function makeEntries({ asOf }: Plan): string {
  return `
    CREATE TEMP TABLE run_entry AS
    SELECT DISTINCT ON (call_id, position) call_id, position, entry FROM (
      SELECT c.call_id, (n.place - 1)::integer AS position, n.entry, 0 AS number
      FROM run_call c JOIN outcome o ON o.intent_id = c.call_id AND o.counted_usd > 0 AND c.answered
      CROSS JOIN LATERAL json_array_elements_text(CASE json_typeof(o.record::json -> 'entries')
        WHEN 'array' THEN o.record::json -> 'entries' ELSE '[]' END) WITH ORDINALITY AS n(entry, place)
      UNION ALL
      SELECT c.call_id, f.position, f.entry, s.number FROM run_call c JOIN settlement s ON s.intent_id = c.call_id
      CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries') AS f(position integer, entry text)
      WHERE s.recorded_at <= ${instant(asOf)} AND f.entry <> 'fee'
    ) AS entries ORDER BY call_id, position, number DESC`;
}

export const MAKE_OURS = (plan: Plan, ids: Ids) =>
  `CREATE TEMP TABLE ours AS SELECT row_number() OVER ()::integer AS n, o.* FROM (${selectOurs(plan, ids)}) AS o`;

/** Restricts a statement to the added calls. */
export const ADD_OURS = (plan: Plan, ids: Ids) => `
  INSERT INTO pg_temp.ours
  SELECT (SELECT coalesce(max(n), 0) FROM ours) + row_number() OVER ()::integer, o.*
  FROM (${selectOurs(plan, ids)} WHERE c.call_id IN (SELECT call_id FROM far_call) AND c.call_id NOT IN (SELECT call_id FROM ours)) AS o`;
