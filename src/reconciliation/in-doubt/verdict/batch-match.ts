import { Created, isOtherType } from '../../../operations/items/effects';
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
  created: Created,
  batch: Batch,
  rules: Rules,
): Work<BatchMatch | undefined> {
  yield batch.length;
  const { from, until } = timeOf(call, rules);
  if (batch.length > call.items.length || !batch.every(({ issuedAt }) => isWithin(issuedAt, from, until)))
    return;
  const byKey = new Map<string, number[]>();
  for (const [place, item] of call.items.entries()) {
    for (const key of keysOfItem(item, created)) {
      const places = byKey.get(key);
      if (places) places.push(place);
      else byKey.set(key, [place]);
    }
  }
  yield call.items.length;
  const given = yield* oneToOne(
    batch,
    (seen) => keysOfTransaction(seen).flatMap((key) => byKey.get(key) ?? []),
    contentOf,
  );
  return given && { batch, positions: given.map((at) => (call.items[at] as ItemInDoubt).position) };
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
export function relationOf(item: ItemInDoubt, seen: ListedTransaction, created: Created): Relation {
  // The ID of one of our calls identifies a transaction, whatever else it contains.
  if (seen.namedCallId !== null) return hasReferenceOf(item, seen) ? 'some' : 'none';
  // The amounts of a collection are in another currency.
  const isSame = created.incoming ? undefined : isSameAmount(item, seen);
  if (!mightBe(item, seen, created, isSame)) return 'none';
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
function isSameAmount(item: ItemInDoubt, seen: ListedTransaction): boolean | undefined {
  if (item.amountUsd === null || seen.amountUsd === null) return undefined;
  return item.amountUsd === seen.amountUsd;
}

/** Returns whether a transaction could be an item that the upstream changed in some way. */
function mightBe(
  item: ItemInDoubt,
  seen: ListedTransaction,
  created: Created,
  amount: boolean | undefined,
): boolean {
  if (isOtherType(seen.type, created) && amount !== true) return false;
  if (created.incoming && hasReferenceOf(item, seen)) return true;
  if (maySharePerson(item.names, seen.names)) return true;
  if (item.names.length === 0 || seen.names.length === 0) return amount !== false;
  // A recipient paid by handle may be listed by email address.
  return (
    amount === true &&
    !isOtherType(seen.type, created) &&
    !haveKindInCommon(kindsOf(item.names), kindsOf(seen.names))
  );
}

/**
 * Assigns a different element of `right` to each element of `left`. It uses augmenting paths, which find an
 * assignment if one exists.
 * @param placesOf the indexes of the elements on the right that fit an element. They may repeat.
 * @param kindOf elements of one kind fit the same elements.
 * @returns the index on the right for each element on the left. Undefined without a complete assignment.
 */
export function* oneToOne<L>(
  left: readonly L[],
  placesOf: (one: L) => Iterable<number>,
  kindOf: (one: L) => string,
): Work<number[] | undefined> {
  const byKind = new Map<string, Choices>();
  const choices: Choices[] = [];
  for (const one of left) {
    const kind = kindOf(one);
    let known = byKind.get(kind);
    if (!known) {
      known = { places: [...new Set(placesOf(one))].sort((one, other) => one - other), taken: 0 };
      byKind.set(kind, known);
      yield known.places.length;
    }
    choices.push(known);
  }
  const takenBy = new Map<number, number>();
  const given = new Array<number>(left.length);
  for (const one of left.keys()) if (!(yield* place(one, choices, takenBy, given))) return undefined;
  return given;
}

/**
 * The indexes that fit a kind. The first `taken` of them are taken. A taken index never becomes free again.
 */
interface Choices {
  places: number[];
  taken: number;
}

/**
 * Finds an index for one element, and moves other elements where needed.
 * @returns whether an index was found.
 */
function* place(
  one: number,
  choices: Choices[],
  takenBy: Map<number, number>,
  given: number[],
): Work<boolean> {
  const wantedBy = new Map<number, number>();
  const queue = [one];
  for (const next of queue) {
    const own = choices[next] as Choices;
    while (own.taken < own.places.length && takenBy.has(own.places[own.taken] as number)) own.taken += 1;
    const free = own.places[own.taken];
    if (free !== undefined) {
      move(next, free, one, wantedBy, takenBy, given);
      return true;
    }
    yield own.places.length;
    for (const at of own.places) {
      if (wantedBy.has(at)) continue;
      wantedBy.set(at, next);
      queue.push(takenBy.get(at) as number);
    }
  }
  return false;
}

/**
 * Assigns a free index to `last`, and the freed index to the element that wanted it, until `first` has one.
 */
function move(
  last: number,
  free: number,
  first: number,
  wantedBy: ReadonlyMap<number, number>,
  takenBy: Map<number, number>,
  given: number[],
): void {
  let [one, at] = [last, free];
  for (;;) {
    const left = given[one];
    given[one] = at;
    takenBy.set(at, one);
    if (one === first || left === undefined) return;
    [at, one] = [left, wantedBy.get(left) as number];
  }
}
