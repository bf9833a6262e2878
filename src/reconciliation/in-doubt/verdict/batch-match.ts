import { CreationRules, isOtherType } from '../../../operations/items/effects';
import { Batch, Rules, ListedTransaction, SentCall, ItemInDoubt } from '../calls-in-doubt';
import { Work } from '../work';
import { keysOfItem, keysOfTransaction, haveKindInCommon, kindsOf, maySharePerson } from './payments';

/** A batch whose transactions are all items of this call. */
export interface BatchMatch {
  batch: Batch;
  /** Item position of each transaction. */
  positions: number[];
}

/** Relation of a transaction to an item: none, another amount for its recipient, or any other. */
type Relation = 'none' | 'other amount' | 'some';

/** Matches a batch with all or part of a call: each transaction with another item, within the call's time. */
export function* fit(
  call: SentCall,
  created: CreationRules,
  batch: Batch,
  rules: Rules,
): Work<BatchMatch | undefined> {
  yield batch.length;
  const { from, until } = timeOf(call, rules);
  if (batch.length > call.items.length || !batch.every(({ issuedAt }) => isWithin(issuedAt, from, until)))
    return;
  const byKey = new Map<string, number[]>();
  for (const [index, item] of call.items.entries()) {
    for (const key of keysOfItem(item, created)) {
      const indexes = byKey.get(key);
      if (indexes) indexes.push(index);
      else byKey.set(key, [index]);
    }
  }
  yield call.items.length;
  const indexesOf = (listed: ListedTransaction) =>
    keysOfTransaction(listed).flatMap((key) => byKey.get(key) ?? []);
  const assigned = yield* oneToOne(batch, indexesOf, contentOf);
  return (
    assigned && { batch, positions: assigned.map((index) => (call.items[index] as ItemInDoubt).position) }
  );
}

/** Returns the period in which the transactions of a call can have been created, by the upstream's clock. */
export function timeOf(
  { sentFrom, sentUntil }: SentCall,
  { skewMs, quietMs }: Rules,
): { from: number; until: number } {
  return { from: sentFrom.getTime() - skewMs, until: sentUntil.getTime() + quietMs + skewMs };
}

/** Returns the items of a call that differ in the compared fields. */
export function distinctItems({ items }: SentCall): ItemInDoubt[] {
  const byContent = new Map(
    items.map((item) => [JSON.stringify([item.names, item.payee, item.amountUsd, item.reference]), item]),
  );
  return [...byContent.values()];
}

/** Returns the relation of a transaction to an item. */
export function relationOf(item: ItemInDoubt, listed: ListedTransaction, created: CreationRules): Relation {
  // The ID of one of our calls identifies a transaction, whatever else it contains.
  if (listed.namedCallId !== null) return hasReferenceOf(item, listed) ? 'some' : 'none';
  // The amounts of a collection are in another currency.
  const isSame = created.incoming ? undefined : isSameAmount(item, listed);
  if (!mightBe(item, listed, created, isSame)) return 'none';
  return isSame === false ? 'other amount' : 'some';
}

function hasReferenceOf({ reference }: ItemInDoubt, { references }: ListedTransaction): boolean {
  return reference !== null && references.includes(reference);
}

function isWithin(at: Date | null, from: number, until: number): boolean {
  return at !== null && at.getTime() >= from && at.getTime() <= until;
}

function contentOf({ type, status, amountUsd, names, references, namedCallId }: ListedTransaction): string {
  return JSON.stringify([type, status, amountUsd, names, references, namedCallId]);
}

/** Returns whether two amounts are equal. Undefined if either is unset. */
function isSameAmount(item: ItemInDoubt, listed: ListedTransaction): boolean | undefined {
  if (item.amountUsd === null || listed.amountUsd === null) return undefined;
  return item.amountUsd === listed.amountUsd;
}

/** Returns whether a transaction could be an item that the upstream changed in some way. */
function mightBe(
  item: ItemInDoubt,
  listed: ListedTransaction,
  created: CreationRules,
  isSame: boolean | undefined,
): boolean {
  if (isOtherType(listed.type, created) && isSame !== true) return false;
  if (created.incoming && hasReferenceOf(item, listed)) return true;
  if (maySharePerson(item.names, listed.names)) return true;
  if (item.names.length === 0 || listed.names.length === 0) return isSame !== false;
  // A recipient paid by handle may be listed by email address.
  return (
    isSame === true &&
    !isOtherType(listed.type, created) &&
    !haveKindInCommon(kindsOf(item.names), kindsOf(listed.names))
  );
}

/**
 * Assigns a different element of `right` to each element of `left`. It uses augmenting paths, which find an
 * assignment if one exists.
 * @param indexesOf the indexes of the elements on the right that fit an element. They may repeat.
 * @param kindOf elements of one kind fit the same elements.
 * @returns the index on the right for each element on the left. Undefined without a complete assignment.
 */
export function* oneToOne<L>(
  left: readonly L[],
  indexesOf: (element: L) => Iterable<number>,
  kindOf: (element: L) => string,
): Work<number[] | undefined> {
  const byKind = new Map<string, Choices>();
  const choices: Choices[] = [];
  for (const element of left) {
    const kind = kindOf(element);
    let known = byKind.get(kind);
    if (!known) {
      const indexes = [...new Set(indexesOf(element))].sort((one, other) => one - other);
      byKind.set(kind, (known = { indexes, taken: 0 }));
      yield indexes.length;
    }
    choices.push(known);
  }
  const takenBy = new Map<number, number>();
  const assigned = new Array<number>(left.length);
  for (const first of left.keys()) {
    if (!(yield* assign(first, choices, takenBy, assigned))) return undefined;
  }
  return assigned;
}

/** The indexes that fit a kind. The first `taken` of them are taken, and never become free again. */
interface Choices {
  indexes: number[];
  taken: number;
}

/**
 * Finds an index for one element, and moves other elements where needed.
 * @returns whether an index was found.
 */
function* assign(
  first: number,
  choices: Choices[],
  takenBy: Map<number, number>,
  assigned: number[],
): Work<boolean> {
  const wantedBy = new Map<number, number>();
  const queue = [first];
  for (const next of queue) {
    const own = choices[next] as Choices;
    while (own.taken < own.indexes.length && takenBy.has(own.indexes[own.taken] as number)) own.taken += 1;
    const free = own.indexes[own.taken];
    if (free !== undefined) {
      move(next, free, first, wantedBy, takenBy, assigned);
      return true;
    }
    yield own.indexes.length;
    for (const index of own.indexes) {
      if (wantedBy.has(index)) continue;
      wantedBy.set(index, next);
      queue.push(takenBy.get(index) as number);
    }
  }
  return false;
}

/** Assigns a free index to `last`, and the freed index to the element that wanted it, up to `first`. */
function move(
  last: number,
  free: number,
  first: number,
  wantedBy: ReadonlyMap<number, number>,
  takenBy: Map<number, number>,
  assigned: number[],
): void {
  let [element, index] = [last, free];
  for (;;) {
    const freed = assigned[element];
    assigned[element] = index;
    takenBy.set(index, element);
    if (element === first || freed === undefined) return;
    [index, element] = [freed, wantedBy.get(freed) as number];
  }
}
