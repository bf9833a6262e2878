import { Client } from 'pg';
import { Explanation } from './entry-offers';
import { givenBack, hasStatus } from './flows';
import { instant } from './literals';
import { PartlyFailed } from './partly-failed';
import { RunSettings } from './run-settings';

interface Window {
  from: Date;
  to: Date;
}

/** SQL for the batch of a transaction of `theirs` or `aside`. A transaction without one is a batch of its own. */
export const batchOf = (row: 't.' | '') => `coalesce('batch ' || ${row}batch_ref, 'row ' || ${row}n)`;

/** The columns that identify a transaction. */
const NAMED = `${batchOf('')} AS batch, n::text AS single,
  array_remove(ARRAY[upstream_ref, upstream_id, batch_ref], NULL) AS names`;

const LISTED = `${NAMED}, batch_ref, at, coalesce(usd, 0) AS usd, coalesce(fee, 0) AS fee`;

const paidAround = ({ from, to }: Window) => `listed AS (
    SELECT ${LISTED}, word <> 'not' AS moved, CASE WHEN transfer THEN 'transfer_out' ELSE 'payout' END AS flow
    FROM theirs WHERE NOT incoming AND at >= ${instant(from)} AND at <= ${instant(to)}
  )`;

/** The bookings of some transactions and of their batches, as rows of `Explanation`. See `Booking`. */
const BOOKINGS = (late: boolean) => `
  SELECT batch, single, booking, round(amount, 6)::text AS amount, CASE WHEN booking = 'fee' THEN 'fee' ELSE flow END AS flow,
    CASE WHEN booking IN ('batch', 'single') THEN fee ELSE 0 END::text AS fee, extract(epoch FROM at)::float8 * 1000 AS at, ${late} AS late, names
  FROM (
    SELECT batch, NULL AS single, at, flow, coalesce(fee, 0) AS fee, names, b.booking, b.amount FROM batches CROSS JOIN LATERAL (VALUES
      ('batch', usd + fee), ('batch_at_first', whole), ('batch_net', CASE WHEN fee > 0 THEN usd END), ('fee', fee)) AS b(booking, amount)
    UNION ALL
    SELECT batch, single, at, flow, fee, names, s.booking, s.amount FROM listed CROSS JOIN LATERAL (VALUES
      ('single', usd + fee), ('single_net', CASE WHEN fee > 0 THEN usd END), ('fee', fee)) AS s(booking, amount)
  ) AS offered WHERE round(amount, 6)::text = ANY ($1::text[])`;

const batches = (whole: string) => `batches AS (
    SELECT batch, min(at) AS at, min(flow) AS flow, sum(usd) FILTER (WHERE moved) AS usd, sum(fee) FILTER (WHERE moved) AS fee, ${whole} AS whole,
      array_remove(ARRAY[min(batch_ref)], NULL) AS names
    FROM listed GROUP BY batch
  )`;

/** Returns the transactions that could explain debits of these amounts, around the time of the debits. */
export async function paidFromWallets(db: Client, window: Window, amounts: string[]): Promise<Explanation[]> {
  const listed = await db.query<Explanation>(
    `WITH ${paidAround(window)}, ${batches('sum(usd + fee)')} ${BOOKINGS(false)}`,
    [amounts],
  );
  const aside = await db.query<Explanation>(singles(`aside WHERE flow IN ('fee', 'redemption')`, 'flow', false), [amounts]); // oxfmt-ignore
  return [...listed.rows, ...aside.rows];
}

/**
 * Returns the transactions that could explain credits of these amounts: payments whose money came back, money that was
 * collected or redeemed, transfers, and transactions that are no payments.
 */
export async function backInWallets(db: Client, settings: RunSettings, amounts: string[]): Promise<Explanation[]> {
  const back = `listed AS (
    SELECT ${LISTED}, TRUE AS moved, coalesce(${givenBack('status', settings)}, 'reversal') AS flow FROM theirs WHERE NOT incoming AND word = 'not')`;
  const redeemed = hasStatus('status', 'redeemed', settings);
  const found = [
    `WITH ${back}, ${batches('NULL::numeric')} ${BOOKINGS(true)}`,
    singles(
      `theirs WHERE word <> 'not' AND (incoming OR ${redeemed})`,
      "CASE WHEN incoming THEN 'collection' ELSE 'redemption' END",
      true,
    ),
    singles("theirs WHERE transfer AND word <> 'not'", "'transfer_in'", false),
    singles("aside WHERE flow <> 'fee'", 'flow', false),
  ];
  const rows: Explanation[] = [];
  for (const query of found) rows.push(...(await db.query<Explanation>(query, [amounts])).rows);
  return rows;
}

/** Transactions that are booked one by one, without a fee. */
function singles(which: string, flow: string, late: boolean): string {
  return `
    SELECT ${NAMED}, 'single' AS booking, round(abs(usd), 6)::text AS amount, ${flow} AS flow, '0' AS fee,
      extract(epoch FROM at)::float8 * 1000 AS at, ${late} AS late
    FROM ${which} AND at IS NOT NULL AND round(abs(usd), 6)::text = ANY ($1::text[])`;
}

/** Returns the batches in which several items moved no money, around the time of the debits. */
export async function partlyFailedIn(db: Client, window: Window): Promise<PartlyFailed[]> {
  const { rows } = await db.query<PartlyFailed>(`
    WITH ${paidAround(window)}
    SELECT batch, round(coalesce(sum(usd + fee) FILTER (WHERE moved), 0) * 1e6)::float8 AS moved,
      array_agg(round((usd + fee) * 1e6)::float8) FILTER (WHERE NOT moved AND usd > 0) AS others,
      extract(epoch FROM min(at))::float8 * 1000 AS at
    FROM listed GROUP BY batch HAVING count(*) FILTER (WHERE NOT moved AND usd > 0) > 1`);
  return rows;
}
