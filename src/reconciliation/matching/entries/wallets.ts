import { Decimal } from 'decimal.js';
import { Client } from 'pg';
import { Prisma } from '../../../platform/database/generated/client';
import { describedFlow } from '../../book/flows';
import { Plan, toleranceOf } from '../../book/plan';
import { ENTRY_SUBJECT, NAMED_ENTRIES, WALLET } from '../balances';
import { harmless, plainWord } from '../recipients';
import { IncompleteRecord, WalletRecord } from '../totals.dto';
import { entryFaults } from './completeness';
import { explain, EntryExplanation, Explanations } from './entry-matching';
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

/** The failed items of a batch, which moved no money in the end. */
interface FailedBatch {
  batch: string;
  /** Cost of the other items and of all fees, in US dollars. Fees of failed items may be kept. */
  rest: string;
  /** Failed items by transaction number, in US dollars without fees. */
  items: Record<string, number>;
}

const failedOf = (batches: string[]) => Prisma.sql`
  SELECT ${batchOf(Prisma.sql`theirs`)} AS batch,
    coalesce(sum(coalesce(fee, 0) + CASE WHEN word <> 'not' THEN coalesce(usd, 0) ELSE 0 END), 0)::text
      AS rest,
    json_object_agg(n::text, coalesce(usd, 0)) FILTER (WHERE word = 'not') AS items
  FROM theirs WHERE ${batchOf(Prisma.sql`theirs`)} = ANY (${batches}::text[])
  GROUP BY 1 HAVING bool_or(word = 'not')`;

/** The batch of each listed refund or reversal, by its number. */
const REFUNDED = Prisma.sql`SELECT l.a::text AS single, ${batchOf(Prisma.sql`t`)} AS batch
  FROM set_aside_link l JOIN theirs t ON t.n = l.t`;

/** Returns the debits of payouts that moved no money and were never credited back. They explain no loss. */
async function neverReturned(
  db: Client,
  debits: Explanations,
  credits: Explanations,
): Promise<WalletEntry[]> {
  const batches = [...new Set([...debits.values()].map(({ batch }) => batch))];
  if (batches.length === 0) return [];
  const { rows } = await db.query<FailedBatch>(failedOf(batches));
  const failed = new Map(rows.map((row) => [row.batch, row]));
  if (failed.size === 0) return [];
  const refunded = await db.query<{ single: string; batch: string }>(REFUNDED);
  const batchOf = new Map(refunded.rows.map(({ single, batch }) => [single, batch]));
  const returned = sums(
    [...credits].map(([{ amount }, { batch, single }]) => [
      batchOf.get(single ?? '') ?? batch,
      new Decimal(amount),
    ]),
  );
  const owing = [...debits].flatMap(([entry, explanation]) => {
    const batch = failed.get(explanation.batch);
    const usd = batch ? owedFor(entry, explanation, batch) : new Decimal(0);
    return usd.gt(0) ? [{ entry, batch: explanation.batch, usd }] : [];
  });
  const owed = sums(owing.map(({ batch, usd }) => [batch, usd]));
  return owing.flatMap(({ entry, batch }) => (owed.get(batch)?.gt(returned.get(batch) ?? 0) ? [entry] : []));
}

/** Returns the part of a debit for items that moved no money. */
function owedFor(
  { amount }: WalletEntry,
  { single, flow }: EntryExplanation,
  { rest, items }: FailedBatch,
): Decimal {
  if (flow === 'fee') return new Decimal(0);
  return single === null ? new Decimal(amount).sub(rest) : new Decimal(items[single] ?? 0);
}

function sums(parts: [string, Decimal][]): Map<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const [name, usd] of parts) sums.set(name, usd.add(sums.get(name) ?? 0));
  return sums;
}
