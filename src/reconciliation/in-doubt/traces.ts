import { Created, CREATED_BY } from '../../operations/effects';
import { Batch, Seen, Wanted } from './calls-in-doubt';
import { RecipientKind } from '../../recipients/recipient';
import { haveKindInCommon, kindsOf, looseKey } from './payments';

const TYPES: ReadonlySet<string> = new Set([...CREATED_BY.values()].map(({ type }) => type));

/** Stands for any type that no operation creates. It could be any kind of transaction. */
const UNKNOWN_TYPE = '';

/** The transactions of all amounts, and those that state none. */
const ALL = 'all';
const UNSTATED = 'unstated';

/**
 * Indexes batches by what a trace of an item could have: its recipient, its amount, or neither. The lists that it
 * returns contain each batch that `relationOf` relates to the item, and few others.
 */
export class Traces {
  private readonly lists = new Map<string, Batch[]>();
  /** The kinds of names that transactions have, such as email or phone number, by their key. */
  private readonly kinds = new Map<string, RecipientKind[]>();

  add(batch: Batch): void {
    for (const seen of batch) {
      const type = typeOf(seen);
      for (const by of this.waysTo(seen)) {
        this.put(batch, by, type, ALL);
        this.put(batch, by, type, seen.amountUsd ?? UNSTATED);
      }
    }
  }

  /** Returns lists with each batch that relates to an item in another way than by paying another amount. */
  *ofItem(item: Wanted, created: Created): Iterable<readonly Batch[]> {
    const { amountUsd, reference, names } = item;
    const own = [created.type, UNKNOWN_TYPE];
    const ways = [...names.map(nameKey), ...this.namelessFor(item)];
    if (reference !== null) yield* this.find([referenceKey(reference)], [...TYPES, UNKNOWN_TYPE], [ALL]);
    if (created.incoming || amountUsd === null) {
      yield* this.find(ways, own, [ALL]);
      return;
    }
    yield* this.find(ways, own, [UNSTATED]);
    yield* this.find(ways, [...TYPES, UNKNOWN_TYPE], [amountUsd]);
    // A recipient paid by handle may be listed by email address.
    const named = kindsOf(names);
    const others = [...this.kinds].filter(([, kinds]) => !haveKindInCommon(named, kinds)).map(([key]) => key);
    yield* this.find(others, own, [amountUsd]);
  }

  /** Returns lists with each batch that pays the recipient of an item another amount. */
  *ofRecipient({ names }: Wanted, created: Created): Iterable<readonly Batch[]> {
    if (!created.incoming) yield* this.find(names.map(nameKey), [created.type, UNKNOWN_TYPE], [ALL]);
  }

  private *find(ways: string[], types: string[], amounts: string[]): Iterable<readonly Batch[]> {
    for (const by of ways) {
      for (const type of types) {
        for (const amount of amounts) {
          const list = this.lists.get(listKey(by, type, amount));
          if (list) yield list;
        }
      }
    }
  }

  /** The ways to the transactions that no name relates to an item: those without names, or all if it has none. */
  private namelessFor({ names }: Wanted): string[] {
    return names.length === 0 ? [...this.kinds.keys()] : [kindsKey([])];
  }

  private waysTo({ names, references }: Seen): string[] {
    const kinds = kindsOf(names);
    const key = kindsKey(kinds);
    this.kinds.set(key, kinds);
    return [...names.map(nameKey), ...references.map(referenceKey), key];
  }

  /** A batch is added as a whole, so it can only be the last of a list. */
  private put(batch: Batch, by: string, type: string, amount: string): void {
    const key = listKey(by, type, amount);
    const list = this.lists.get(key);
    if (!list) this.lists.set(key, [batch]);
    else if (list.at(-1) !== batch) list.push(batch);
  }
}

function typeOf({ type }: Seen): string {
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

function listKey(by: string, type: string, amount: string): string {
  return [by, type, amount].join('\0');
}
