import { UpstreamItem } from '../../../journal/records/records';
import { Item, recipientNames } from '../../../operations/items/item';
import { countableFee } from '../../../operations/lifecycle/settlement';
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
    const agrees = (place: number) =>
      !taken.has(place) && agree(items[place], known[place], transaction, oneEach && place === ordinal);
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
  const given = item.upstreamRef === null ? recipients : refOf(transaction);
  if (known.length === 0 || given.length === 0) return placed;
  return given.some((name) => known.includes(name));
}

function positionsByName(names: string[][]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [place, known] of names.entries()) {
    for (const name of known) {
      const others = places.get(name);
      if (others) others.push(place);
      else places.set(name, [place]);
    }
  }
  return places;
}

/** Returns the identity of an item: the transaction that it names, or its recipient. */
function namesOfItem(item: Item): string[] {
  if (item.upstreamRef !== null) return [item.upstreamRef];
  return recipientNames(item).flatMap(({ kind, key }) => (kind === 'receiver' ? [] : [key]));
}

function refOf({ upstreamRef }: Transaction): string[] {
  return upstreamRef === null ? [] : [upstreamRef];
}
