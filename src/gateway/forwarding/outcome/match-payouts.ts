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
  const phones = items.map(({ phone }) => keyOf(phone));
  const isOneEach = payouts.length === items.length;
  const taken = new Set<number>();
  const all = [...found];
  const placeOf = new Map(
    found.flatMap(({ position }, place) => (position === null ? [] : [[position, place]])),
  );
  for (const { index: place, phone, status, error } of payouts) {
    const position = positionOf(place, keyOf(phone));
    if (position !== null) taken.add(position);
    const more = { payoutStatus: status, payoutError: error };
    const at = position === null ? undefined : placeOf.get(position);
    const before = at === undefined ? undefined : all[at];
    if (at !== undefined && before) all[at] = Object.assign({}, before, more);
    else all.push({ position, ...more, ...NO_TRANSACTION });
  }
  return all;

  /** The item at the same position if its phone agrees, otherwise the first free item with this phone. */
  function positionOf(place: number, phone: string): number | null {
    const isFree = (position: number) => position >= 0 && position < items.length && !taken.has(position);
    const isHere = phone === '' ? isOneEach : phones[place] === phone;
    if (isHere && isFree(place)) return place;
    const elsewhere =
      phone === '' ? -1 : phones.findIndex((one, position) => one === phone && isFree(position));
    return elsewhere < 0 ? null : elsewhere;
  }
}

const NO_TRANSACTION = {
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
