import { ChargedCall, ChargedFee } from '../../journal/admission/expected-fees';
import { SettledCall } from '../../journal/settlement/settled-call';
import { settleAllWithin } from '../../journal/settlement/settlements';
import { payoutIdOf } from '../../operations/catalogue/payout-id';
import { readFeeRule } from '../../operations/items/fees';
import { grouped } from '../../platform/batches';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { chargedBy, NewsContext, PayoutNews, settlementOf } from './payout-news';

/** News about the payouts of calls, by the ID of the call. */
export type NewsByCall = ReadonlyMap<string, PayoutNews[]>;

/** Result of settling calls by news. */
export interface NewsResult {
  /** The settled calls, with the fees that the news shows. */
  settled: ChargedCall[];
  /** IDs of calls that others settled at the same moment. */
  overtaken: string[];
}

/** Settles the payouts of calls by news about their transactions, and records the payout of each. */
export async function settleByNews(
  tx: Prisma.TransactionClient,
  news: NewsByCall,
  context: NewsContext,
  timeouts: Timeouts,
): Promise<NewsResult> {
  const current = byCall(await currentNews(tx, [...news.values()].flat()));
  const applied = new Map<string, PayoutNews[]>();
  const settled = new Map<string, ChargedCall>();
  const results = await settleAllWithin(tx, [...current.keys()], timeouts, (call: SettledCall) => {
    const { id } = call.intent;
    const decided = settlementOf(call, current.get(id) ?? [], context);
    applied.set(id, decided.applied);
    if (decided.settlement) {
      settled.set(id, toCharged(call, chargedBy(decided.settlement.entries, call)));
    }
    return decided.settlement;
  });
  const callsWith = (wanted: string) =>
    [...results].flatMap(([id, result]) => (result === wanted ? [id] : []));
  const overtaken = callsWith('overtaken');
  for (const id of overtaken) applied.delete(id);
  await recordNews(tx, [...applied.values()].flat());
  return { settled: callsWith('written').flatMap((id) => settled.get(id) ?? []), overtaken };
}

/** Groups news by call. */
export const byCall = <News extends PayoutNews>(news: readonly News[]) =>
  grouped(news.map((one) => [one.callId, one]));

/**
 * Locks the transactions, and returns the news that is still current: about the payouts' own transactions,
 * and about transactions without a payout to payouts without a transaction.
 */
async function currentNews(tx: Prisma.TransactionClient, news: PayoutNews[]): Promise<PayoutNews[]> {
  const ids = news.map(({ id }) => id);
  const rows = await tx.$queryRaw<{ id: string; callId: string | null }[]>`
    SELECT id::text, call_id::text AS "callId" FROM book_transaction
    WHERE id = ANY (${ids}::uuid[]) ORDER BY id FOR UPDATE`;
  const owners = new Map(rows.map(({ id, callId }) => [id, callId]));
  const calls = [...new Set(news.map(({ callId }) => callId))];
  const attributed = await tx.$queryRaw<{ callId: string; position: number }[]>`
    SELECT call_id::text AS "callId", position FROM book_transaction WHERE call_id = ANY (${calls}::uuid[])`;
  const taken = new Set(attributed.map(({ callId, position }) => payoutIdOf(callId, position)));
  return news.filter(({ id, ground, callId, position }) =>
    ground === null
      ? owners.get(id) === callId
      : owners.get(id) === null && !taken.has(payoutIdOf(callId, position)),
  );
}

/** Records news about transactions, and their payouts. */
export async function recordNews(tx: Prisma.TransactionClient, news: readonly PayoutNews[]): Promise<void> {
  if (news.length === 0) return;
  const rows = news.map(
    ({ id, callId, position, ground, readId, ordinal, status, fee, amount, transaction }) => ({
      id,
      call_id: callId,
      position,
      ground,
      read_id: readId,
      ordinal,
      status,
      fee_usd: fee,
      amount_usd: amount,
      issued_at: transaction.at,
      batch_ref: transaction.batch_ref,
    }),
  );
  await tx.$executeRaw`
    UPDATE book_transaction b SET status = book_status(n.status), fee_usd = n.fee_usd,
      amount_usd = coalesce(n.amount_usd, b.amount_usd), issued_at = coalesce(n.issued_at, b.issued_at),
      batch_ref = coalesce(book_name(n.batch_ref), b.batch_ref), read_id = n.read_id, ordinal = n.ordinal,
      call_id = n.call_id, position = n.position, ground = coalesce(b.ground, n.ground),
      attributed_at = coalesce(b.attributed_at, clock_timestamp())
    FROM json_populate_recordset(NULL::book_transaction, ${JSON.stringify(rows)}::json) AS n
    WHERE b.id = n.id`;
}

/** Returns a call whose fees are observed. */
function toCharged({ intent }: SettledCall, fees: ChargedFee[]): ChargedCall {
  const { id, account = MAIN_ACCOUNT, operation, expected_fee: fee } = intent;
  return { id, account, operation, rule: (fee && readFeeRule(fee)) || null, fees };
}
