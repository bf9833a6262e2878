import { Work } from './work';

/**
 * Assigns each element of `left` an element of `right` of its own. It uses augmenting paths, so it finds an assignment
 * if there is one.
 * @param placesOf the indexes of the elements on the right that fit an element. They may repeat.
 * @param kindOf elements of one kind fit the same elements.
 * @returns the index on the right for each element on the left. Undefined if not every element can have one.
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

/** The indexes that fit a kind. The first `taken` of them are taken. A taken index never becomes free again. */
interface Choices {
  places: number[];
  taken: number;
}

/**
 * Finds an index for one element, and moves other elements for it where needed.
 * @returns whether there is one.
 */
function* place(one: number, choices: Choices[], takenBy: Map<number, number>, given: number[]): Work<boolean> {
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
 * Assigns a free index to `last`, and the index that this frees to the element that wanted it, until `first` has one.
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
