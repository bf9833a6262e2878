import type { CallStory, RecordEntry, RecordItem } from '../../api/generated/schema';

/** A movement of a payout's amount. */
export interface Movement extends Pick<RecordEntry, 'from' | 'to' | 'amount_usd' | 'source'> {
  entry: string;
  at: string | null;
}

type Told = Pick<CallStory, 'timings' | 'approval' | 'settlements'>;

/** What the answer said about a payout, by the account that held its amount afterwards. */
const ANSWERED: Partial<Record<RecordEntry['to'], string>> = {
  recipient: 'paid',
  in_transit: 'pending',
  available: 'not_paid',
};

const ACCOUNT: Partial<Record<NonNullable<RecordItem['state']>, RecordEntry['to']>> = {
  paid: 'recipient',
  pending: 'in_transit',
  failed: 'available',
  reversed: 'available',
  refunded: 'available',
  not_executed: 'available',
};

/** Returns the ledger of a payout, oldest movement first. Empty for an item that is no payout, or never reserved anything. */
export function movementsOf({ timings, approval, settlements }: Told, item: RecordItem): Movement[] {
  const { position, state, amount_usd } = item;
  const isHeld = approval !== null && approval.status !== 'approved';
  if (state === null || isHeld) return [];
  const settled: Movement[] = [...settlements]
    .reverse()
    .flatMap(({ entries }) => entries.filter((entry) => entry.position === position));
  const reserved = { entry: 'reserved', from: 'available', to: 'reserved', source: 'request' } as const;
  const movements: Movement[] = [{ ...reserved, amount_usd, at: approval?.decided_at ?? timings.recorded_at }];
  const changed = settled.find(({ entry }) => entry !== 'fee');
  const answered = changed?.from ?? ACCOUNT[state];
  const answer = {
    from: 'reserved',
    amount_usd,
    source: 'answer',
    at: timings.outcome_recorded_at,
  } as const;
  const entry = answered && (changed ? ANSWERED[answered] : state);
  if (answered && entry) movements.push({ ...answer, entry, to: answered });
  const fee = feeOfAnswer(item, settled);
  if (fee !== null) movements.push({ ...answer, entry: 'fee', from: 'available', to: 'fees', amount_usd: fee });
  return [...movements, ...settled];
}

/** Returns the fee that the answer stated: all of it, without what settlements added. Only for showing. */
function feeOfAnswer({ fee_usd }: RecordItem, settled: Movement[]): string | null {
  const later = settled
    .filter(({ entry }) => entry === 'fee')
    .reduce((sum, { to, amount_usd }) => sum + (to === 'fees' ? 1 : -1) * Number(amount_usd), 0);
  const fee = Number((Number(fee_usd ?? 0) - later).toFixed(6));
  return fee > 0 ? String(fee) : null;
}
