import { Prisma } from '../../platform/database/generated/client';
import { Decimal } from 'decimal.js';
import { Client } from 'pg';
import { Explained } from './entry-matching';
import { WalletEntry } from './entry-offers';
import { batchOf } from './wallet-offers';

/** A batch, as far as some of its items moved no money in the end. */
interface Failed {
  batch: string;
  /** What the others cost, with their fees, and the fees of these, which may be kept. US dollars. */
  rest: string;
  /** These, by their numbers. US dollars, without fees. */
  items: Record<string, number>;
}

const failedOf = (batches: string[]) => Prisma.sql`
  SELECT ${batchOf(Prisma.sql`theirs`)} AS batch, coalesce(sum(coalesce(fee, 0) + CASE WHEN word <> 'not' THEN coalesce(usd, 0) ELSE 0 END), 0)::text AS rest,
    json_object_agg(n::text, coalesce(usd, 0)) FILTER (WHERE word = 'not') AS items
  FROM theirs WHERE ${batchOf(Prisma.sql`theirs`)} = ANY (${batches}::text[]) GROUP BY 1 HAVING bool_or(word = 'not')`;

/** The batches that listed refunds and reversals belong to, by the numbers of these. */
const REFUNDED = Prisma.sql`SELECT l.a::text AS single, ${batchOf(Prisma.sql`t`)} AS batch FROM aside_link l JOIN theirs t ON t.n = l.t`;

/**
 * Returns the debits of payouts that moved no money in the end, if no credits show that the money came back. Such a
 * payout explains no loss.
 */
export async function neverReturned(db: Client, debits: Explained, credits: Explained): Promise<WalletEntry[]> {
  const batches = [...new Set([...debits.values()].map(({ batch }) => batch))];
  if (batches.length === 0) return [];
  const failed = new Map((await db.query<Failed>(failedOf(batches))).rows.map((one) => [one.batch, one]));
  if (failed.size === 0) return [];
  const refunded = await db.query<{ single: string; batch: string }>(REFUNDED);
  const batchOf = new Map(refunded.rows.map(({ single, batch }) => [single, batch]));
  const returned = sums([...credits].map(([{ amount }, { batch, single }]) => [batchOf.get(single ?? '') ?? batch, new Decimal(amount)])); // oxfmt-ignore
  const owing = [...debits].flatMap(([entry, explanation]) => {
    const batch = failed.get(explanation.batch);
    const usd = batch ? owedFor(entry, explanation, batch) : new Decimal(0);
    return usd.gt(0) ? [{ entry, batch: explanation.batch, usd }] : [];
  });
  const owed = sums(owing.map(({ batch, usd }) => [batch, usd]));
  return owing.flatMap(({ entry, batch }) => (owed.get(batch)?.gt(returned.get(batch) ?? 0) ? [entry] : []));
}

type Explanation = Explained extends Map<WalletEntry, infer Value> ? Value : never;

/** Returns what a debit took for items that moved no money. */
function owedFor({ amount }: WalletEntry, { single, flow }: Explanation, { rest, items }: Failed): Decimal {
  if (flow === 'fee') return new Decimal(0);
  return single === null ? new Decimal(amount).sub(rest) : new Decimal(items[single] ?? 0);
}

function sums(parts: [string, Decimal][]): Map<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const [name, usd] of parts) sums.set(name, usd.add(sums.get(name) ?? 0));
  return sums;
}
