import { UpstreamItem } from '../../../journal/records/records';
import { Item } from '../../../operations/items/item';
import { recipientKey } from '../../../recipients/recipient';
import { ListedPayout } from '../../upstream/answers/payouts';

/**
 * Adds the answer's data about each payout to the transaction of its item. A payout without a certain item or
 * a transaction gets an entry of its own.
 */
export function withPayouts(items: Item[], found: UpstreamItem[], payouts: ListedPayout[]): UpstreamItem[] {
  if (payouts.length === 0) return found;
  const isOneEach = payouts.length === items.length;
  const taken = new Set<number>();
  const all = [...found];
  const indexOf = new Map(found.map(({ position }, index) => [position, index]));
  let keys: string[] | undefined; // few answers need them
  for (const { index, phone, status, error } of payouts) {
    const position = positionOf(index, phone);
    if (position !== null) taken.add(position);
    const handover = { payoutStatus: status, payoutError: error };
    const foundAt = position === null ? undefined : indexOf.get(position);
    const transaction = foundAt === undefined ? undefined : all[foundAt];
    if (foundAt !== undefined && transaction) all[foundAt] = Object.assign({}, transaction, handover);
    else all.push({ position, ...handover, ...NO_TRANSACTION });
  }
  return all;

  /** Returns the item at the same position if its phone agrees, else the first free item with this phone. */
  function positionOf(index: number, phone: string | null): number | null {
    const isFree = (position: number) => position >= 0 && position < items.length && !taken.has(position);
    if (!phone) return isOneEach && isFree(index) ? index : null;
    if (items[index]?.phone === phone && isFree(index)) return index;
    keys ??= items.map((item) => keyOf(item.phone));
    const key = keyOf(phone);
    if (keys[index] === key && isFree(index)) return index;
    const elsewhere = keys.findIndex((known, position) => known === key && isFree(position));
    return elsewhere < 0 ? null : elsewhere;
  }
}

/** An item of an answer that names no transaction. */
export const NO_TRANSACTION = {
  upstreamRef: null,
  upstreamId: null,
  batchRef: null,
  status: null,
  amountUsd: null,
  feeUsd: null,
};

/** Normalizes the telco's spelling of a number. Empty without a number. */
function keyOf(phone: string | null): string {
  return phone ? (recipientKey('phone', phone) ?? phone) : '';
}
