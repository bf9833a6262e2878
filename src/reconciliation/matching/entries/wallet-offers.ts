import { Client } from 'pg';
import { Prisma } from '../../../platform/database/generated/client';
import { givenBack, hasStatus } from '../../book/flows';
import { RunSettings } from '../../book/plan';
import { Explanation, PartlyFailedBatch } from './entry-offers';

interface PaymentWindow {
  from: Date;
  to: Date;
}

/** SQL for the batch of a row of `theirs` or `set_aside`. A transaction without one is its own batch. */
export const batchOf = (row: Prisma.Sql) =>
  Prisma.sql`coalesce('batch ' || ${row}.batch_ref, 'row ' || ${row}.n)`;

/** Columns that identify a transaction `t`. */
const NAMED = Prisma.sql`${batchOf(Prisma.sql`t`)} AS batch, n::text AS single,
  array_remove(ARRAY[upstream_ref, upstream_id, batch_ref], NULL) AS names`;

const LISTED = Prisma.sql`${NAMED}, batch_ref, at, coalesce(usd, 0) AS usd, coalesce(fee, 0) AS fee`;

const paidWithin = ({ from, to }: PaymentWindow) => Prisma.sql`listed AS (
    SELECT ${LISTED}, word <> 'not' AS moved,
      CASE WHEN transfer THEN 'transfer_out' ELSE 'payout' END AS flow
    FROM theirs t WHERE NOT incoming AND at >= ${from}::timestamptz AND at <= ${to}::timestamptz
  )`;

/** Bookings of transactions and of their batches, as rows of `Explanation`. See `Booking`. */
const bookings = (amounts: string[], late: boolean) => Prisma.sql`
  SELECT batch, single, booking, round(amount, 6)::text AS amount,
    CASE WHEN booking = 'fee' THEN 'fee' ELSE flow END AS flow,
    CASE WHEN booking IN ('batch', 'single') THEN fee ELSE 0 END::text AS fee,
    extract(epoch FROM at)::float8 * 1000 AS at, ${late}::boolean AS late, names
  FROM (
    SELECT batch, NULL AS single, at, flow, coalesce(fee, 0) AS fee, names, b.booking, b.amount
    FROM batches CROSS JOIN LATERAL (VALUES
      ('batch', usd + fee),
      ('batch_at_first', whole),
      ('batch_net', CASE WHEN fee > 0 THEN usd END),
      ('fee', fee)) AS b(booking, amount)
    UNION ALL
    SELECT batch, single, at, flow, fee, names, s.booking, s.amount
    FROM listed CROSS JOIN LATERAL (VALUES
      ('single', usd + fee),
      ('single_net', CASE WHEN fee > 0 THEN usd END),
      ('fee', fee)) AS s(booking, amount)
  ) AS offered
  WHERE round(amount, 6)::text = ANY (${amounts}::text[])`;

const batches = (whole: Prisma.Sql) => Prisma.sql`batches AS (
    SELECT batch, min(at) AS at, min(flow) AS flow, sum(usd) FILTER (WHERE moved) AS usd,
      sum(fee) FILTER (WHERE moved) AS fee, ${whole} AS whole,
      array_remove(ARRAY[min(batch_ref)], NULL) AS names
    FROM listed GROUP BY batch
  )`;

/** Transactions that are booked one by one, without a fee. */
const singles = (amounts: string[], which: Prisma.Sql, flow: Prisma.Sql, late = false) => Prisma.sql`
  SELECT ${NAMED}, 'single' AS booking, round(abs(usd), 6)::text AS amount, ${flow} AS flow, '0' AS fee,
    extract(epoch FROM at)::float8 * 1000 AS at, ${late}::boolean AS late
  FROM ${which} AND at IS NOT NULL AND round(abs(usd), 6)::text = ANY (${amounts}::text[])`;

const FLOW = Prisma.sql`flow`;

/** The refunds and reversals of collections, which are debits. */
const OF_COLLECTION = Prisma.sql`SELECT a FROM set_aside_link WHERE incoming`;

/**
 * Collections that were given back: by their status, at any later time, or by a listed refund. Both offers
 * are the same transaction, so it explains one debit.
 */
const collectionsBack = (settings: RunSettings, amounts: string[]) => {
  const flow = givenBack(Prisma.sql`status`, settings);
  return [
    singles(amounts, Prisma.sql`theirs t WHERE incoming AND ${flow} IS NOT NULL`, flow, true),
    singles(
      amounts,
      Prisma.sql`(
        SELECT t.n, t.batch_ref, a.upstream_ref, a.upstream_id, a.usd, a.at, a.flow
        FROM set_aside_link l JOIN set_aside a ON a.n = l.a AND a.word <> 'not' JOIN theirs t ON t.n = l.t
        WHERE l.incoming) AS t WHERE TRUE`,
      FLOW,
    ),
  ];
};

async function explanationsOf(db: Client, statements: Prisma.Sql[]): Promise<Explanation[]> {
  const rows: Explanation[] = [];
  for (const statement of statements) rows.push(...(await db.query<Explanation>(statement)).rows);
  return rows;
}

/**
 * Returns the transactions that could explain debits of these amounts: payments in a window around the
 * debits, transactions other than payments, and collections that were given back.
 */
export function paidFromWallets(
  db: Client,
  settings: RunSettings,
  window: PaymentWindow,
  amounts: string[],
): Promise<Explanation[]> {
  const wholes = batches(Prisma.sql`sum(usd + fee)`);
  return explanationsOf(db, [
    Prisma.sql`WITH ${paidWithin(window)}, ${wholes} ${bookings(amounts, false)}`,
    singles(amounts, Prisma.sql`set_aside t WHERE flow IN ('fee', 'redemption')`, FLOW),
    ...collectionsBack(settings, amounts),
  ]);
}

/**
 * Returns the transactions that could explain credits of these amounts: returned payments, collected or
 * redeemed money, transfers, and transactions other than payments.
 */
export function backInWallets(db: Client, settings: RunSettings, amounts: string[]): Promise<Explanation[]> {
  const status = Prisma.sql`status`;
  const back = Prisma.sql`listed AS (
    SELECT ${LISTED}, TRUE AS moved, coalesce(${givenBack(status, settings)}, 'reversal') AS flow
    FROM theirs t WHERE NOT incoming AND word = 'not'
  )`;
  // What was given back later arrived before.
  const received = Prisma.sql`theirs t WHERE
    CASE WHEN incoming THEN word <> 'not' OR ${givenBack(status, settings)} IS NOT NULL
      ELSE ${hasStatus(status, 'redeemed', settings)} END`;
  return explanationsOf(db, [
    Prisma.sql`WITH ${back}, ${batches(Prisma.sql`NULL::numeric`)} ${bookings(amounts, true)}`,
    singles(amounts, received, Prisma.sql`CASE WHEN incoming THEN 'collection' ELSE 'redemption' END`, true),
    singles(amounts, Prisma.sql`theirs t WHERE transfer AND word <> 'not'`, Prisma.sql`'transfer_in'`),
    singles(amounts, Prisma.sql`set_aside t WHERE flow <> 'fee' AND n NOT IN (${OF_COLLECTION})`, FLOW),
  ]);
}

/** Returns the batches with several items that moved no money, in a window around the debits. */
export async function partlyFailedIn(db: Client, window: PaymentWindow): Promise<PartlyFailedBatch[]> {
  const { rows } = await db.query<PartlyFailedBatch>(Prisma.sql`
    WITH ${paidWithin(window)}
    SELECT batch, round(coalesce(sum(usd + fee) FILTER (WHERE moved), 0) * 1e6)::float8 AS moved,
      array_agg(round((usd + fee) * 1e6)::float8) FILTER (WHERE NOT moved AND usd > 0) AS others,
      extract(epoch FROM min(at))::float8 * 1000 AS at
    FROM listed GROUP BY batch HAVING count(*) FILTER (WHERE NOT moved AND usd > 0) > 1`);
  return rows;
}
