import { Created, CREATED_BY, isOtherType } from '../../operations/effects';
import { Seen, Wanted } from './calls-in-doubt';

/**
 * The keys by which items and transactions are compared. A transaction equals an item in everything that both state if
 * and only if they share a key. So nobody has to compare each transaction with each item.
 */

/** One of each kind of transaction that operations create, by what their keys begin with. */
const KINDS: ReadonlyMap<string, Created> = new Map(
  [...CREATED_BY.values()].map((created) => [kindOf(created), created]),
);

/** The reference of an item without one, which equals any, and of a transaction without one. */
const ANY = 'any';
const NONE = 'none';

/** Returns the keys of an item. There are none if it cannot be compared. */
export function keysOfItem({ payee, amountUsd, reference }: Wanted, created: Created): string[] {
  const kind = kindOf(created);
  if (created.incoming) {
    return reference === null ? [] : payee.map((name) => keyOf(kind, name, '', written(reference)));
  }
  if (amountUsd === null) return [];
  const references = reference ? [written(reference), NONE] : [ANY];
  return payee.flatMap((name) => references.map((one) => keyOf(kind, name, amountUsd, one)));
}

/**
 * Returns the keys of a transaction, for each kind that it could be of. One with the ID of a call of ours equals only
 * items with this reference.
 */
export function keysOfSeen({ type, meaning, names, amountUsd, references, madeFor }: Seen): string[] {
  const stated = references.map(written);
  const any = madeFor === null ? [ANY] : [];
  const keys: string[] = [];
  for (const [kind, created] of KINDS) {
    if (isOtherType(type, created) || (created.paidAtOnce && meaning === 'unpaid')) continue;
    const amount = created.incoming ? '' : amountUsd;
    if (amount === null) continue;
    const possible = created.incoming ? stated : [...any, ...(stated.length === 0 ? [NONE] : stated)];
    for (const name of names) for (const one of possible) keys.push(keyOf(kind, name, amount, one));
  }
  return keys;
}

/** Returns the transaction of a batch that has the fewest others like it. */
export function rarest(batch: readonly Seen[], count: (key: string) => number): Seen | undefined {
  let [found, least] = [batch[0], Infinity];
  if (batch.length === 1) return found;
  for (const seen of batch) {
    const others = keysOfSeen(seen).reduce((sum, key) => sum + count(key), 0);
    if (others < least) [found, least] = [seen, others];
  }
  return found;
}

function kindOf({ type, class: name }: Created): string {
  return `${type} ${name}`;
}

/** Distinguishes a reference from `ANY` and `NONE`. */
function written(reference: string): string {
  return `=${reference}`;
}

/** No text of the database contains the separator, so different parts never make the same key. */
function keyOf(kind: string, name: string, amount: string, reference: string): string {
  return [kind, name, amount, reference].join('\0');
}
