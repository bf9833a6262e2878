import { Client } from 'pg';
import { Prisma } from '../../platform/database/generated/client';
import { makeAnswered } from './answered';
import { NewsRow, toNews, unclaimed } from './candidates';
import { runAll } from './connection';
import { matchAlike } from './fingerprint';
import { idsIn, makeCallsWith, readPayouts } from './ours';
import { CONTRADICTION_OF_PAIR } from './pairing/agreement';
import { PayoutNews } from './payout-news';
import { MAKE_COMPARED_OPERATIONS, Plan, RunSettings } from './plan';
import { MATCH_COLLECTIONS } from './references';
import { makeNames, matchAll, MATCH_NAMED, MATCH_PLACES, MATCH_REFUSED, NAME_THEIRS } from './rules';
import { columnsOf } from './theirs';

/** The payouts and transactions to attribute to each other. */
export interface AttributionScope {
  account: string;
  /** Calls with payouts that may lack a transaction. Payouts with one are left out. */
  calls: string[];
  /** Earliest time of a transaction without a payout. */
  since: Date;
  settings: RunSettings;
  /** Operations whose transactions show the IDs that the proxy wrote into their requests. */
  showsIdsOf: ReadonlySet<string>;
  /** Longest time between a request and its transaction, in seconds: usually, and if the upstream queues. */
  usualSeconds: number;
  longestSeconds: number;
}

/** A transaction of the book that a rule attributes to a payout. */
export interface Attribution extends PayoutNews {
  /** The fact by which the transaction contradicts the payout. It is not attributed then. */
  contradiction: string | null;
}

type AttributionRow = NewsRow & Pick<Attribution, 'contradiction'>;

/**
 * Attributes transactions without a payout to payouts without a transaction, by the rules of rules.ts and
 * fingerprint.ts. Writes nothing.
 */
export async function attribute(db: Client, scope: AttributionScope): Promise<Attribution[]> {
  const plan = toPlan(scope);
  await runAll(db, [DROP, ...MAKE_COMPARED_OPERATIONS, makeUnclaimed(plan, scope)]);
  await readPayouts(db, plan, makeCallsWith(plan, scope.calls));
  await runAll(db, [WITHOUT_ATTRIBUTED, Prisma.sql`ANALYZE ours; ANALYZE theirs`]);
  const ids = await idsIn(db, Prisma.sql`run_call`);
  await runAll(db, [...matchAll(ids), ...MATCH_NAMED, ...MATCH_COLLECTIONS]);
  await runAll(db, [...REFUSE, ...makeNames(ids), ...MATCH_REFUSED]);
  await runAll(db, [makeShowsId(scope), ...makeAnswered(scope.account)]);
  for (const timeToleranceSeconds of [scope.usualSeconds, scope.longestSeconds]) {
    await matchAlike(db, { ...plan.settings, timeToleranceSeconds });
  }
  await matchPlaces(db);
  const { rows } = await db.query<AttributionRow>(ATTRIBUTIONS);
  return rows.map(({ contradiction, ...row }) => ({ contradiction, ...toNews(row) }));
}

/** The book has no period, and records count as they are now. */
function toPlan({ account, settings }: AttributionScope): Plan {
  const [from, to] = [new Date(0), new Date('9999-01-01')];
  const reading = { runId: '', readId: '', walletsReadId: null };
  return { ...reading, account, from, to, asOf: to, historical: false, source: 'upstream', settings };
}

const DROP = Prisma.sql`DROP TABLE IF EXISTS run_call, run_evidence, run_entry, ours, theirs, pair, found,
  distant_call, candidate, twice, unmatched_ours, unmatched_theirs, unmatched_name,
  shows_id, shared_reference, refused`;

/**
 * `theirs`: the transactions without a payout, as the last reading with news showed them. Only the first with
 * a reference is found by it.
 */
function makeUnclaimed(plan: Plan, { account, since }: AttributionScope): Prisma.Sql {
  return Prisma.sql`
    CREATE TEMP TABLE theirs AS
    SELECT row_number() OVER (ORDER BY issued_at, shown_at, id)::bigint AS n,
      id, read_id, ordinal, ${columnsOf(plan)}
    FROM (
      SELECT b.id, b.shown_at, t.read_id, t.ordinal,
        CASE WHEN b.variant = 0 THEN t.upstream_ref END AS upstream_ref,
        b.upstream_id, t.batch_ref, t.issued_at, t.status, t.amount_usd, t.fee_usd, t.reference, t.type,
        t.email, t.phone, t.handle, t.receiver
      FROM ${unclaimed(account, since)}
    ) AS unclaimed`;
}

/** Refunds, fees and the like are no payouts. A name that a listing refuted is not that of the payout. */
const WITHOUT_ATTRIBUTED = Prisma.sql`
  DELETE FROM pg_temp.theirs WHERE flow IS NOT NULL;
  UPDATE pg_temp.ours o SET upstream_ref = NULL, upstream_id = NULL
    FROM book_contradiction c JOIN book_transaction b ON b.id = c.transaction_id
    WHERE c.call_id = o.call_id AND c.position = o.position AND c.kind <> 'owner'
      AND (b.upstream_ref = o.upstream_ref OR b.upstream_id = o.upstream_id);
  DELETE FROM pg_temp.ours o USING book_transaction b WHERE b.call_id = o.call_id
    AND b.position = o.position`;

function makeShowsId({ showsIdsOf }: AttributionScope): Prisma.Sql {
  return Prisma.sql`CREATE TEMP TABLE shows_id AS SELECT unnest(${[...showsIdsOf]}::text[]) AS operation`;
}

/**
 * `refused`: the pairs that contradict each other, such as a payout whose answer names the transaction of
 * another recipient. Both sides are left to the rules for IDs and batches, and for what is alike.
 */
const REFUSE = [
  Prisma.sql`CREATE TEMP TABLE refused AS
  SELECT p.* FROM pair p JOIN ours o ON o.n = p.o JOIN theirs x ON x.n = p.t
  JOIN compared_operation c ON c.operation = o.operation
  JOIN upstream_transaction t ON t.read_id = x.read_id AND t.ordinal = x.ordinal
  WHERE ${CONTRADICTION_OF_PAIR} IS NOT NULL`,
  Prisma.sql`DELETE FROM pg_temp.pair USING refused WHERE pair.o = refused.o AND pair.t = refused.t;
  INSERT INTO pg_temp.unmatched_ours SELECT * FROM ours WHERE n IN (SELECT o FROM refused);
  INSERT INTO pg_temp.unmatched_theirs
  SELECT theirs.*, NULL, NULL FROM theirs WHERE n IN (SELECT t FROM refused)`,
  NAME_THEIRS,
];

/** Matches within calls. A call whose payouts all have a transaction leaves what it names to other calls. */
async function matchPlaces(db: Client): Promise<void> {
  let before = Infinity;
  for (let left = await countLeft(db); left < before; left = await countLeft(db)) {
    before = left;
    await runAll(db, MATCH_PLACES);
  }
}

async function countLeft(db: Client): Promise<number> {
  const { rows } = await db.query<{ left: number }>(
    Prisma.sql`SELECT count(*)::integer AS left FROM unmatched_ours`,
  );
  return rows[0]?.left ?? 0;
}

const ATTRIBUTIONS = Prisma.sql`
  SELECT o.call_id::text AS "callId", o.position, b.id::text, p.rule AS ground, t.read_id::text AS "readId",
    t.ordinal::text, t.status, t.amount_usd::text AS amount, t.fee_usd::text AS fee,
      book_name(t.upstream_ref, t.phone) AS "upstreamRef",
    book_name(t.upstream_id, t.phone) AS "upstreamId", t.batch_ref AS "batchRef", t.issued_at AS "issuedAt",
    ${CONTRADICTION_OF_PAIR} AS contradiction
  FROM (SELECT o, t, rule FROM pair UNION ALL SELECT o, t, rule FROM refused) AS p
  JOIN ours o ON o.n = p.o JOIN theirs x ON x.n = p.t JOIN book_transaction b ON b.id = x.id
  JOIN compared_operation c ON c.operation = o.operation
  JOIN upstream_transaction t ON t.read_id = x.read_id AND t.ordinal = x.ordinal
  ORDER BY 1, 2`;
