import { Client } from 'pg';
import { CLOCK_SKEW_SECONDS } from './run-settings';
import { Debit, Explanation, Range, unexplainedDebits } from './debit-matching';
import { entryName, nthEntry } from './balances';
import { decimal, instant, uuid } from './literals';
import { Plan } from './plan';
import { harmless } from './recipients';

/** The amount of an entry. Whether amounts are signed is not documented, so the balances show the direction. */
const VALUE = 'round(abs(coalesce(nullif(e.amount, 0), e.new_balance - e.balance_before)), 6)';

/** The entries of the period that reduced the value of a wallet. An entry without a time belongs to no period. */
function debitsOf({ from, to, settings }: Plan, readId: string): string {
  const lost = `CASE WHEN e.balance_before IS NOT NULL AND e.new_balance IS NOT NULL
    THEN e.new_balance < e.balance_before - ${decimal(settings.balanceToleranceUsd)} ELSE e.amount < 0 END`;
  return `
    SELECT e.wallet_id AS "walletId", e.ordinal, ${VALUE}::text AS amount, extract(epoch FROM e.entered_at)::float8 * 1000 AS at
    FROM upstream_wallet_entry e
    WHERE e.read_id = ${uuid(readId)} AND e.entered_at >= ${instant(from)} AND e.entered_at < ${instant(to)} AND ${lost} AND ${VALUE} > 0`;
}

/** The transactions that could explain a debit, around the time of the debits. */
const listed = ({ from, to }: Window) => `listed AS (
    SELECT coalesce('batch ' || batch_ref, 'row ' || n) AS batch, n::text AS single, at, coalesce(usd, 0) AS usd, coalesce(fee, 0) AS fee, word <> 'not' AS moved
    FROM theirs WHERE NOT incoming AND at >= ${instant(from)} AND at <= ${instant(to)}
  )`;

/** The bookings that could explain a debit of one of these amounts. See `Booking`. */
const explanationsIn = (window: Window) => `
  WITH ${listed(window)}, batches AS (
    SELECT batch, min(at) AS at, sum(usd) FILTER (WHERE moved) AS usd, sum(fee) FILTER (WHERE moved) AS fee,
      sum(usd + fee) AS whole FROM listed GROUP BY batch
  ), offered AS (
    SELECT batch, NULL AS single, at, b.booking, b.amount FROM batches CROSS JOIN LATERAL (VALUES
      ('batch', usd + fee), ('batch_at_first', whole), ('batch_net', CASE WHEN fee > 0 THEN usd END), ('fee', fee)) AS b(booking, amount)
    UNION ALL
    SELECT batch, single, at, s.booking, s.amount FROM listed CROSS JOIN LATERAL (VALUES
      ('single', usd + fee), ('single_net', CASE WHEN fee > 0 THEN usd END), ('fee', fee)) AS s(booking, amount)
  )
  SELECT batch, single, booking, round(amount, 6)::text AS amount, extract(epoch FROM at)::float8 * 1000 AS at
  FROM offered WHERE round(amount, 6)::text = ANY ($1::text[])`;

/** See `Range`. */
const rangesIn = (window: Window) => `
  WITH ${listed(window)}
  SELECT batch, coalesce(sum(usd + fee) FILTER (WHERE moved), 0)::float8 AS low, sum(usd + fee)::float8 AS high,
    extract(epoch FROM min(at))::float8 * 1000 AS at
  FROM listed GROUP BY batch HAVING count(*) FILTER (WHERE NOT moved AND usd > 0) > 1`;

/**
 * Adds `unexplained_debit` for each entry of the period that reduced the value of a wallet, and that no listed
 * transaction explains by its amount and time.
 */
export async function addUnexplainedDebits(db: Client, plan: Plan, readId: string): Promise<void> {
  const { rows: debits } = await db.query<Debit>(debitsOf(plan, readId));
  if (debits.length === 0) return;
  const toleranceMs = (CLOCK_SKEW_SECONDS + plan.settings.timeToleranceSeconds) * 1_000;
  // The first transaction of a batch may be older than its entry by more than others.
  const window = windowOf(debits, 2 * toleranceMs);
  const amounts = [...new Set(debits.map(({ amount }) => amount))];
  const { rows: explanations } = await db.query<Explanation>(explanationsIn(window), [amounts]);
  const { rows: ranges } = await db.query<Range>(rangesIn(window));
  const left = unexplainedDebits(debits, explanations, ranges, toleranceMs);
  if (left.length > 0) await db.query(insertDebits(readId), [JSON.stringify(left)]);
}

interface Window {
  from: Date;
  to: Date;
}

function windowOf(debits: Debit[], marginMs: number): Window {
  const times = debits.map(({ at }) => at);
  const first = times.reduce((one, other) => Math.min(one, other));
  const last = times.reduce((one, other) => Math.max(one, other));
  return { from: new Date(first - marginMs), to: new Date(last + marginMs) };
}

function insertDebits(readId: string): string {
  return `
    INSERT INTO pg_temp.difference
    SELECT 'unexplained_debit', 'wallet/' || ${harmless('e.wallet_id')} || '/' || ${entryName('e')} || CASE WHEN e.nth > 1 THEN '#' || e.nth ELSE '' END,
      NULL, NULL, NULL, NULL, NULL, ${harmless('e.wallet_id')}, e.entered_at, 0,
      json_build_array(json_build_object('field', 'amount_usd', 'ours', NULL, 'theirs', trim_scale(${VALUE})::text)),
      json_build_object('ours', NULL, 'theirs', json_build_object('read_id', ${uuid(readId)}, 'wallet_id', ${harmless('e.wallet_id')},
        'ordinal', e.ordinal, 'at', e.entered_at), 'match', NULL)
    FROM (
      SELECT e.*, NULL AS untimed, ${nthEntry('e.entered_at')} AS nth FROM upstream_wallet_entry e WHERE e.read_id = ${uuid(readId)}
    ) AS e JOIN json_to_recordset($1::json) AS d("walletId" text, ordinal integer) ON d."walletId" = e.wallet_id AND d.ordinal = e.ordinal`;
}
