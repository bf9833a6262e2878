import { Item, UpstreamItem } from '../journal/records';
import { Transaction } from '../upstream/transactions';

/**
 * Says which item each transaction of an answer belongs to: the one at its own place if recipient and amount agree, else
 * the first free one that agrees. What agrees with none stands alone: a wrong link would be worse than none.
 */
export function matchItems(items: Item[], transactions: Transaction[]): UpstreamItem[] {
  const free = new Set(items.keys());
  return transactions.map((transaction, ordinal) => {
    const position = [ordinal, ...free].find((place) => free.has(place) && agree(items[place], transaction)) ?? null;
    if (position !== null) free.delete(position);
    const { chiRef, id, issueId, status, amountUsd } = transaction;
    return { position, chiRef, upstreamId: id, issueId, status, amountUsd };
  });
}

/** What an answer leaves out cannot disagree. */
function agree(item: Item | undefined, { recipient, amountUsd, chiRef }: Transaction): boolean {
  if (!item) return false;
  if (item.chiRef !== null) return item.chiRef === chiRef;
  const who = item.email ?? item.phone ?? item.handle;
  if (who !== null && recipient !== null && who.toLowerCase() !== recipient.toLowerCase()) return false;
  return item.amountUsd === null || amountUsd === null || item.amountUsd.eq(amountUsd);
}
