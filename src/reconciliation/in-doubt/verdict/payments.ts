import { CreationRules, CREATED_BY, isOtherType } from '../../../operations/items/effects';
import { kindOfKey, RecipientKind } from '../../../recipients/recipient';
import { ListedTransaction, ItemInDoubt, Batch } from '../calls-in-doubt';

/**
 * Keys that relate transactions to items. A transaction and an item share a key if and only if they agree in
 * everything that both state. Lookups by key replace comparisons of each with each.
 */

/** One of each kind of transaction that operations create, by the prefix of its keys. */
const KINDS: ReadonlyMap<string, CreationRules> = new Map(
  [...CREATED_BY.values()].map((created) => [kindOf(created), created]),
);

/** Wildcards: ANY matches every reference, NONE matches a transaction without one. */
const ANY = 'any';
const NONE = 'none';

/** Returns the keys of an item. Empty if it cannot be compared. */
export function keysOfItem({ payee, amountUsd, reference }: ItemInDoubt, created: CreationRules): string[] {
  const kind = kindOf(created);
  if (created.incoming) {
    return reference === null ? [] : payee.map((name) => keyOf(kind, name, '', written(reference)));
  }
  if (amountUsd === null) return [];
  const references = reference ? [written(reference), NONE] : [ANY];
  return payee.flatMap((name) => references.map((text) => keyOf(kind, name, amountUsd, text)));
}

/**
 * Returns the keys of a transaction, for each of its possible kinds. A transaction with the ID of one of our
 * calls equals only items with this reference.
 */
export function keysOfTransaction({
  type,
  meaning,
  names,
  amountUsd,
  references,
  namedCallId,
}: ListedTransaction): string[] {
  const stated = references.map(written);
  const any = namedCallId === null ? [ANY] : [];
  const keys: string[] = [];
  for (const [kind, created] of KINDS) {
    if (isOtherType(type, created) || (created.paidAtOnce && meaning === 'unpaid')) continue;
    const amount = created.incoming ? '' : amountUsd;
    if (amount === null) continue;
    const possible = created.incoming ? stated : [...any, ...(stated.length === 0 ? [NONE] : stated)];
    for (const name of names) keys.push(...possible.map((reference) => keyOf(kind, name, amount, reference)));
  }
  return keys;
}

/** Returns the transaction of a batch with the fewest equals. */
export function rarest(
  batch: readonly ListedTransaction[],
  count: (key: string) => number,
): ListedTransaction | undefined {
  let [found, least] = [batch[0], Infinity];
  if (batch.length === 1) return found;
  for (const transaction of batch) {
    const others = keysOfTransaction(transaction).reduce((sum, key) => sum + count(key), 0);
    if (others < least) [found, least] = [transaction, others];
  }
  return found;
}

function kindOf({ type, class: name }: CreationRules): string {
  return `${type} ${name}`;
}

/** Marks a reference, which distinguishes it from `ANY` and `NONE`. */
function written(reference: string): string {
  return `=${reference}`;
}

/** Joins the parts of a key by a separator that no text of the database contains. */
function keyOf(kind: string, name: string, amount: string, reference: string): string {
  return [kind, name, amount, reference].join('\0');
}

/** Minimum number of equal digits in two spellings of a phone number, international or local. */
const SHORTEST = 7;

/**
 * Returns the kinds of a recipient's names.
 * @param keys keys of the names.
 */
export function kindsOf(keys: string[]): RecipientKind[] {
  return [...new Set(keys.map(kindOfKey))].sort();
}

/** Returns whether both have a name of the same kind, such as a phone number, which allows a comparison. */
export function haveKindInCommon(some: RecipientKind[], others: RecipientKind[]): boolean {
  return some.some((kind) => others.includes(kind));
}

/**
 * Returns whether two lists of keys may share a recipient. One may omit the country code of a phone number.
 */
export function maySharePerson(some: string[], others: string[]): boolean {
  const values = others.map(valueOf);
  return some.map(valueOf).some((one) => values.some((other) => isSame(one, other)));
}

/** Returns the common part of all keys of a recipient. */
function looseKey(key: string): string {
  const value = valueOf(key);
  return isNumber(value) ? value.slice(-SHORTEST) : value;
}

/** Returns the comparable value of a key. A sub-account's ID may be its holder's contact in another form. */
function valueOf(key: string): string {
  const value = key.toLowerCase().replace(/^(?:@|tel:)/, '');
  const digits = value.replace(/[\s().+-]/g, '');
  return isNumber(digits) ? digits.replace(/^0+/, '') : value;
}

function isNumber(value: string): boolean {
  return value.length >= SHORTEST && /^\d+$/.test(value);
}

function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  return isNumber(one) && isNumber(other) && (one.endsWith(other) || other.endsWith(one));
}

const TYPES: ReadonlySet<string> = new Set([...CREATED_BY.values()].map(({ type }) => type));

/** Any type that no operation creates. Such a transaction could be of any kind. */
const UNKNOWN_TYPE = '';

/** Transactions of all amounts, and those without an amount. */
const ALL = 'all';
const UNSTATED = 'unstated';

/**
 * Indexes batches by the properties that relate them to items: recipient, amount, reference, or none. The
 * returned lists contain each batch that `relationOf` relates to the item, and few others.
 */
export class RelatedBatches {
  private readonly lists = new Map<string, Batch[]>();
  /** Kinds of names that transactions have, such as email or phone number, by their key. */
  private readonly kinds = new Map<string, RecipientKind[]>();

  add(batch: Batch): void {
    for (const transaction of batch) {
      const type = typeOf(transaction);
      for (const key of this.keysOf(transaction)) {
        this.put(batch, key, type, ALL);
        this.put(batch, key, type, transaction.amountUsd ?? UNSTATED);
      }
    }
  }

  /** Returns lists with each batch that relates to an item, except by another amount for its recipient. */
  *ofItem(item: ItemInDoubt, created: CreationRules): Iterable<readonly Batch[]> {
    const { amountUsd, reference, names } = item;
    const own = [created.type, UNKNOWN_TYPE];
    const keys = [...names.map(nameKey), ...this.namelessFor(item)];
    if (reference !== null) yield* this.find([referenceKey(reference)], [...TYPES, UNKNOWN_TYPE], [ALL]);
    if (created.incoming || amountUsd === null) {
      yield* this.find(keys, own, [ALL]);
      return;
    }
    yield* this.find(keys, own, [UNSTATED]);
    yield* this.find(keys, [...TYPES, UNKNOWN_TYPE], [amountUsd]);
    // A recipient paid by handle may be listed by email address.
    const named = kindsOf(names);
    const others = [...this.kinds].filter(([, kinds]) => !haveKindInCommon(named, kinds)).map(([key]) => key);
    yield* this.find(others, own, [amountUsd]);
  }

  /** Returns lists with each batch that pays the recipient of an item another amount. */
  *ofRecipient({ names }: ItemInDoubt, created: CreationRules): Iterable<readonly Batch[]> {
    if (!created.incoming) yield* this.find(names.map(nameKey), [created.type, UNKNOWN_TYPE], [ALL]);
  }

  private *find(keys: string[], types: string[], amounts: string[]): Iterable<readonly Batch[]> {
    for (const key of keys) {
      for (const type of types) {
        for (const amount of amounts) {
          const list = this.lists.get(listKey(key, type, amount));
          if (list) yield list;
        }
      }
    }
  }

  /** Returns the names by which to find transactions that no name relates to an item. */
  private namelessFor({ names }: ItemInDoubt): string[] {
    return names.length === 0 ? [...this.kinds.keys()] : [kindsKey([])];
  }

  private keysOf({ names, references }: ListedTransaction): string[] {
    const kinds = kindsOf(names);
    const key = kindsKey(kinds);
    this.kinds.set(key, kinds);
    return [...names.map(nameKey), ...references.map(referenceKey), key];
  }

  /** Adds a batch to a list, once. Batches are added one by one, so a known one is the last of its lists. */
  private put(batch: Batch, key: string, type: string, amount: string): void {
    const name = listKey(key, type, amount);
    const list = this.lists.get(name);
    if (!list) this.lists.set(name, [batch]);
    else if (list.at(-1) !== batch) list.push(batch);
  }
}

function typeOf({ type }: ListedTransaction): string {
  const word = type?.toLowerCase() ?? UNKNOWN_TYPE;
  return TYPES.has(word) ? word : UNKNOWN_TYPE;
}

function nameKey(name: string): string {
  return `name ${looseKey(name)}`;
}

function referenceKey(reference: string): string {
  return `reference ${reference}`;
}

function kindsKey(kinds: string[]): string {
  return `kinds ${kinds.join(' ')}`;
}

function listKey(key: string, type: string, amount: string): string {
  return [key, type, amount].join('\0');
}
