import { StatusVocabulary } from '../../operations/statuses';
import { withMargin } from './run-settings';
import { TRANSFER } from '../../operations/transactions';
import { INCOMING_TYPES } from './compared-operations';
import { ASIDE_FLOW } from './flows';
import { instant, text, uuid } from './literals';
import { Plan } from './plan';
import { emailKey, handleKey, phoneKey, receiverKey } from './recipients';
import { statusClass } from './status-class';

/**
 * The compared columns of a transaction. `n` is its ordinal in the source. Transactions that are added later continue
 * the count.
 */
function columns({ from, to, settings }: Plan): string {
  const vocabulary = StatusVocabulary.with(settings.statusWords);
  return `upstream_ref, upstream_id, batch_ref, issued_at AS at, status, ${statusClass('status', vocabulary)} AS word,
    amount_usd AS usd, fee_usd AS fee, nullif(reference, '') AS reference, coalesce(lower(type) IN (${INCOMING_TYPES}), FALSE) AS incoming,
    coalesce(lower(type) = ${text(TRANSFER.type)}, FALSE) AS transfer, ${ASIDE_FLOW} AS flow,
    ${emailKey("nullif(email, '')")} AS email, ${phoneKey("nullif(phone, '')")} AS phone,
    ${handleKey("nullif(handle, '')")} AS handle, ${receiverKey("nullif(receiver, '')")} AS receiver,
    -- One without a time belongs to the period that it is compared for.
    issued_at IS NULL OR (issued_at >= ${instant(from)} AND issued_at < ${instant(to)}) AS in_period`;
}

/** `theirs`: the transactions of the period and its margin. */
export function makeTheirs(plan: Plan): string {
  const margin = withMargin(plan.from, plan.to, plan.settings);
  return `
    CREATE TEMP TABLE theirs AS
    SELECT ordinal AS n, read_id, ordinal, ${columns(plan)}
    FROM upstream_transaction
    WHERE read_id = ${uuid(plan.readId)}
      AND (issued_at IS NULL OR (issued_at >= ${instant(margin.from)} AND issued_at < ${instant(margin.to)}))`;
}

/**
 * Adds transactions of any time that answers to payments without a partner name. They were carried out long after they
 * were sent.
 */
export function addFarTheirs(plan: Plan): string {
  const margin = withMargin(plan.from, plan.to, plan.settings);
  return `
    INSERT INTO pg_temp.theirs
    SELECT (SELECT coalesce(max(n), -1) FROM theirs) + row_number() OVER (ORDER BY ordinal), read_id, ordinal, ${columns(plan)}
    FROM upstream_transaction
    WHERE read_id = ${uuid(plan.readId)} AND ${ASIDE_FLOW} IS NULL
      AND (issued_at < ${instant(margin.from)} OR issued_at >= ${instant(margin.to)})
      AND (upstream_ref IN (SELECT upstream_ref FROM left_ours WHERE upstream_ref IS NOT NULL)
        OR upstream_id IN (SELECT upstream_id FROM left_ours WHERE upstream_id IS NOT NULL)
        OR batch_ref IN (SELECT batch_ref FROM left_name WHERE batch_ref IS NOT NULL))`;
}

/** Adds transactions that the upstream returned by name, if its listing lacks them. */
export function addConfirmed(plan: Plan, readIds: string[]): string {
  const reads = readIds.map(uuid).join(', ');
  return `
    INSERT INTO pg_temp.theirs
    SELECT (SELECT coalesce(max(n), -1) FROM theirs) + row_number() OVER (ORDER BY place), read_id, ordinal, ${columns(plan)}
    FROM (
      SELECT DISTINCT ON (place) x.*, coalesce(x.upstream_ref, x.upstream_id) AS place
      FROM upstream_transaction x JOIN source_read_end e ON e.read_id = x.read_id AND e.complete
      WHERE x.read_id IN (${reads}) AND coalesce(x.upstream_ref, x.upstream_id) IS NOT NULL
        AND NOT EXISTS (SELECT FROM theirs t WHERE t.upstream_ref = x.upstream_ref)
        AND NOT EXISTS (SELECT FROM theirs t WHERE t.upstream_id = x.upstream_id)
      ORDER BY place, x.read_id, x.ordinal
    ) AS found WHERE ${ASIDE_FLOW} IS NULL`;
}

/**
 * `far_call`: calls of any time whose answers name transactions without a payment of the period. The calls of the period
 * are left out first, because expanding their documents again takes longer than the rest.
 */
export const FAR_CALLS = `
  INSERT INTO pg_temp.far_call
  SELECT DISTINCT x.intent_id FROM outcome_item x
  WHERE EXISTS (SELECT FROM left_theirs) AND x.intent_id NOT IN (SELECT call_id FROM run_call)
    AND (x.upstream_ref IN (SELECT upstream_ref FROM left_theirs)
      OR x.upstream_id IN (SELECT upstream_id FROM left_theirs) OR x.batch_ref IN (SELECT batch_ref FROM left_theirs))`;

export const takeTheirs = (from: number) =>
  `INSERT INTO pg_temp.left_theirs SELECT theirs.*, NULL FROM theirs WHERE n >= ${from}`;

export const TAKE_OURS = (from: number) => `
  INSERT INTO pg_temp.left_ours SELECT * FROM ours WHERE n >= ${from};
  INSERT INTO pg_temp.left_name
  SELECT intent_id, upstream_ref, upstream_id, batch_ref FROM outcome_item WHERE intent_id IN (SELECT call_id FROM far_call)`;
