import { UpstreamItem } from '../../../journal/records/records';
import { Item, recipientNames } from '../../../operations/items/item';
import { countableFee } from '../../../operations/lifecycle/settlement';
import { recipientKey } from '../../../recipients/recipient';
import { ListedPayout } from '../../upstream/answers/payouts';
import { Transaction } from '../../upstream/answers/transactions';

/**
 * Returns the item of each transaction in an answer: the item at the same position if recipient and amount
 * agree, otherwise the first free item that agrees. A transaction that agrees with none has no item, because
 * a wrong link would be worse.
 */
export function matchItems(items: Item[], transactions: Transaction[]): UpstreamItem[] {
  const known = items.map(namesOfItem);
  const taken = new Set<number>();
  let byName: Map<string, number[]> | undefined; // Almost all answers are in order.
  const oneEach = items.length === transactions.length;
  return transactions.map((transaction, ordinal) => {
    const agrees = (index: number) =>
      !taken.has(index) && agree(items[index], known[index], transaction, oneEach && index === ordinal);
    const elsewhere = () => {
      byName ??= positionsByName(known);
      return [...refOf(transaction), ...transaction.recipients]
        .flatMap((name) => byName?.get(name) ?? [])
        .find(agrees);
    };
    const position = agrees(ordinal) ? ordinal : (elsewhere() ?? null);
    if (position !== null) taken.add(position);
    const { upstreamRef, upstreamId, batchRef, status, amountUsd } = transaction;
    const feeUsd = countableFee(transaction.feeUsd);
    return { position, upstreamRef, upstreamId, batchRef, status, amountUsd, feeUsd };
  });
}

/**
 * @param placed whether the transaction has the item's position, in an answer with one transaction per item.
 * No name is needed then.
 */
function agree(
  item: Item | undefined,
  known: string[] = [],
  transaction: Transaction,
  placed: boolean,
): boolean {
  if (!item) return false;
  const { amountUsd, recipients } = transaction;
  if (item.amountUsd !== null && amountUsd !== null && !item.amountUsd.eq(amountUsd)) return false;
  const names = item.upstreamRef === null ? recipients : refOf(transaction);
  if (known.length === 0 || names.length === 0) return placed;
  return names.some((name) => known.includes(name));
}

function positionsByName(names: string[][]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [position, known] of names.entries()) {
    for (const name of known) {
      const others = positions.get(name);
      if (others) others.push(position);
      else positions.set(name, [position]);
    }
  }
  return positions;
}

/** Returns the identity of an item: the transaction that it names, or its recipient. */
function namesOfItem(item: Item): string[] {
  if (item.upstreamRef !== null) return [item.upstreamRef];
  return recipientNames(item).flatMap(({ kind, key }) => (kind === 'receiver' ? [] : [key]));
}

function refOf({ upstreamRef }: Transaction): string[] {
  return upstreamRef === null ? [] : [upstreamRef];
}

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
  const indexOf = new Map(
    found.flatMap(({ position }, index) => (position === null ? [] : [[position, index]])),
  );
  for (const { index, phone, status, error } of payouts) {
    const position = positionOf(index, keyOf(phone));
    if (position !== null) taken.add(position);
    const handover = { payoutStatus: status, payoutError: error };
    const foundAt = position === null ? undefined : indexOf.get(position);
    const transaction = foundAt === undefined ? undefined : all[foundAt];
    if (foundAt !== undefined && transaction) all[foundAt] = Object.assign({}, transaction, handover);
    else all.push({ position, ...handover, ...NO_TRANSACTION });
  }
  return all;

  /** Returns the item at the same position if its phone agrees, else the first free item with this phone. */
  function positionOf(index: number, phone: string): number | null {
    const isFree = (position: number) => position >= 0 && position < items.length && !taken.has(position);
    const isSame = phone === '' ? isOneEach : phones[index] === phone;
    if (isSame && isFree(index)) return index;
    const elsewhere =
      phone === '' ? -1 : phones.findIndex((known, position) => known === phone && isFree(position));
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
