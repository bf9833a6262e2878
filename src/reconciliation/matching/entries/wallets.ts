import { Client } from 'pg';
import { Prisma } from '../../../platform/database/generated/client';
import { describedFlow } from '../../book/flows';
import { Plan, toleranceOf } from '../../book/plan';
import { ENTRY_SUBJECT, NAMED_ENTRIES, WALLET } from '../balances';
import { harmless, plainWord } from '../recipients';
import { IncompleteRecord, WalletRecord } from '../totals.dto';
import { entryFaults } from './completeness';
import { explain, Explanations } from './entry-matching';
import { WalletEntry } from './entry-offers';
import { backInWallets, paidFromWallets, partlyFailedIn, batchOf } from './wallet-offers';
import { BookedEntry, ListedEntry, statementsOf, withTimes } from './wallet-statement';

/** Result of a run for the wallets. */
export interface WalletResults {
  /** Opening balance, flows and closing balance of each wallet. */
  statements: WalletRecord[];
  incomplete: IncompleteRecord[];
}

/**
 * Judges the wallets of the account: finds a transaction for each entry of the period, and adds
 * `unexplained_debit` or `unexplained_credit` for the entries without one.
 */
export async function judgeWallets(db: Client, plan: Plan, readId: string): Promise<WalletResults> {
  const { rows: wallets } = await db.query<{
    id: string;
    name: string;
    type: string | null;
    balance: string | null;
  }>(
    Prisma.sql`SELECT wallet_id AS id, ${harmless(Prisma.sql`wallet_id`)} AS name,
      ${plainWord(Prisma.sql`type`)} AS type, balance::text FROM upstream_wallet
      WHERE read_id = ${readId}::uuid ORDER BY upstream_wallet.type, wallet_id`,
  );
  const { rows } = await db.query<ListedEntry>(entriesOf(plan, readId));
  const listed = withTimes(rows);
  const changing = listed.filter(({ amount }) => Number(amount) > 0);
  const entries = changing.filter(isWithin(plan));
  const beyond = changing.filter((entry) => !isWithin(plan)(entry));
  const debits = await explainSide(db, plan, entries.filter(isDebit), beyond.filter(isDebit));
  const credits = await explainSide(db, plan, entries.filter(isCredit), beyond.filter(isCredit));
  for (const entry of await neverReturned(db, debits, credits)) debits.delete(entry);
  const booked = entries.map((entry): BookedEntry => {
    const explanation = (entry.isDebit ? debits : credits).get(entry);
    const described = entry.isDebit ? undefined : describedFlow(entry.description);
    return { entry, ...(explanation ?? { flow: described ?? 'unexplained', fee: '0' }) };
  });
  const unexplained = booked.flatMap(({ entry, flow }) => (flow === 'unexplained' ? [entry] : []));
  if (unexplained.length > 0) await db.query(insertUnexplained(plan, readId, unexplained));
  const statements = wallets.map((wallet) => statementsOf(wallet, listed, booked, plan));
  const withEntries = new Set(
    wallets.filter(({ id }) => listed.some(({ walletId }) => walletId === id)).map(({ name }) => name),
  );
  return { statements, incomplete: await entryFaults(db, plan, readId, { statements, withEntries, debits }) };
}

/** Selects the entries, with the direction from their balances: amounts may have signs or not. */
function entriesOf({ settings }: Plan, readId: string): Prisma.Sql {
  const tolerance = Prisma.sql`${settings.balanceToleranceUsd}::numeric`;
  return Prisma.sql`
    SELECT wallet_id AS "walletId", ordinal, balance_before::text AS before, new_balance::text AS after,
      description, extract(epoch FROM entered_at)::float8 * 1000 AS at,
      round(abs(coalesce(
        nullif(amount, 0),
        CASE WHEN abs(new_balance - balance_before) > ${tolerance} THEN new_balance - balance_before END,
        0)), 6)::text AS amount,
      coalesce(
        CASE WHEN new_balance < balance_before - ${tolerance} THEN TRUE
          WHEN new_balance > balance_before + ${tolerance} THEN FALSE END,
        amount < 0, FALSE) AS "isDebit"
    FROM upstream_wallet_entry WHERE read_id = ${readId}::uuid ORDER BY wallet_id, ordinal`;
}

const isDebit = (entry: ListedEntry) => entry.isDebit;
const isCredit = (entry: ListedEntry) => !entry.isDebit;

/** Condition of the period. An entry without any time counts. */
const isWithin =
  ({ from, to }: { from: Date; to: Date }) =>
  ({ at }: WalletEntry) =>
    at === null || (at >= from.getTime() && at < to.getTime());

/**
 * Explains the debits or the credits of the period.
 * @param outside those outside of the period, which use up the transactions that explain them.
 */
async function explainSide(
  db: Client,
  plan: Plan,
  entries: ListedEntry[],
  outside: ListedEntry[],
): Promise<Explanations> {
  const all = [...entries, ...outside];
  const [first] = all;
  if (!first) return new Map();
  const { settings } = plan;
  const amounts = [...new Set(all.map(({ amount }) => amount))];
  const window = windowOf(all, plan);
  const explanations = first.isDebit
    ? await paidFromWallets(db, settings, window, amounts)
    : await backInWallets(db, settings, amounts); // Money can be returned at any time.
  const partlyFailed = first.isDebit ? await partlyFailedIn(db, window) : [];
  return explain(entries, { explanations, partlyFailed, toleranceMs: toleranceOf(settings), outside });
}

/** Returns the period around the entries, with twice the tolerance for the first transaction of a batch. */
function windowOf(entries: WalletEntry[], plan: Plan): { from: Date; to: Date } {
  const times = entries.map(({ at }) => at);
  if (times.includes(null)) return plan;
  const margin = 2 * toleranceOf(plan.settings);
  const first = times.reduce<number>((one, other) => Math.min(one, other ?? one), Infinity);
  const last = times.reduce<number>((one, other) => Math.max(one, other ?? one), -Infinity);
  return { from: new Date(first - margin), to: new Date(last + margin) };
}

function insertUnexplained({ from }: Plan, readId: string, unexplained: WalletEntry[]): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO pg_temp.difference
    SELECT CASE WHEN d."isDebit" THEN 'unexplained_debit' ELSE 'unexplained_credit' END,
      ${ENTRY_SUBJECT}, NULL, NULL, NULL, NULL, NULL, ${WALLET},
      coalesce(to_timestamp(d.at / 1000), ${from}::timestamptz), 0,
      json_build_array(json_build_object(
        'field', 'amount_usd', 'ours', NULL, 'theirs', trim_scale(d.amount)::text)),
      json_build_object(
        'ours', NULL,
        'theirs', json_build_object(
          'read_id', ${readId}::uuid, 'wallet_id', ${WALLET}, 'ordinal', e.ordinal, 'at', e.entered_at),
        'match', NULL)
    FROM (${NAMED_ENTRIES} WHERE e.read_id = ${readId}::uuid) AS e
    JOIN json_to_recordset(${JSON.stringify(unexplained)}::json)
      AS d("walletId" text, ordinal integer, amount numeric, at float8, "isDebit" boolean)
      ON d."walletId" = e.wallet_id AND d.ordinal = e.ordinal`;
}

/** The debits or the credits, with their explanations, as rows `b`. */
const rowsOf = (side: Explanations) => {
  const rows = [...side].map(([{ amount }, { batch, single, flow }], i) => ({
    i,
    batch,
    single,
    flow,
    amount,
  }));
  return Prisma.sql`json_to_recordset(${JSON.stringify(rows)}::json)
    AS b(i integer, batch text, single text, flow text, amount numeric)`;
};

const BATCH = batchOf(Prisma.sql`theirs`);

/**
 * Returns the debits of payouts that moved no money and were never credited back. They explain no loss. The
 * fees of failed payouts may be kept.
 */
async function neverReturned(
  db: Client,
  debits: Explanations,
  credits: Explanations,
): Promise<WalletEntry[]> {
  const { rows } = await db.query<{ i: number }>(Prisma.sql`
    WITH failed AS (
      SELECT ${BATCH} AS batch, json_object_agg(n, coalesce(usd, 0)) FILTER (WHERE word = 'not') AS items,
        sum(coalesce(fee, 0) + CASE WHEN word <> 'not' THEN coalesce(usd, 0) ELSE 0 END) AS rest
      FROM theirs WHERE ${BATCH} IN (SELECT batch FROM ${rowsOf(debits)})
      GROUP BY 1 HAVING bool_or(word = 'not')
    ), owed AS (
      SELECT * FROM (
        SELECT b.i, b.batch, CASE WHEN b.single IS NULL THEN b.amount - f.rest
          ELSE (f.items ->> b.single)::numeric END AS usd
        FROM ${rowsOf(debits)} JOIN failed f USING (batch) WHERE b.flow <> 'fee'
      ) AS parts WHERE usd > 0
    ), refunded AS (
      SELECT l.a::text AS single, ${BATCH} AS batch FROM set_aside_link l JOIN theirs ON theirs.n = l.t
    ), returned AS (
      SELECT coalesce(r.batch, b.batch) AS batch, sum(b.amount) AS usd
      FROM ${rowsOf(credits)} LEFT JOIN refunded r USING (single) GROUP BY 1
    )
    SELECT i FROM owed o LEFT JOIN returned r USING (batch)
    WHERE (SELECT sum(usd) FROM owed WHERE batch = o.batch) > coalesce(r.usd, 0)`);
  const entries = [...debits.keys()];
  return rows.flatMap(({ i }) => entries[i] ?? []);
}
