import { Work } from './work';

/**
 * Gives each of the `left` one of the `right` of its own (augmenting paths: it finds a way wherever there is one).
 * @param kindOf what fits one fits all of its kind.
 * @returns the place on the right of each on the left; undefined if not each can have one.
 */
export function* oneToOne<L, R>(
  left: readonly L[],
  right: readonly R[],
  fits: (one: L, other: R) => boolean,
  kindOf: (one: L) => string,
): Work<number[] | undefined> {
  const byKind = new Map<string, Choices>();
  const choices: Choices[] = [];
  for (const one of left) {
    const kind = kindOf(one);
    let known = byKind.get(kind);
    if (!known) {
      known = { places: right.flatMap((other, at) => (fits(one, other) ? [at] : [])), taken: 0 };
      byKind.set(kind, known);
      yield right.length;
    }
    choices.push(known);
  }
  const takenBy = new Map<number, number>();
  const given = new Array<number>(left.length);
  for (const one of left.keys()) if (!(yield* place(one, choices, takenBy, given))) return undefined;
  return given;
}

/** The places that a kind may have. The first so many are taken: a place that is taken is never free again. */
interface Choices {
  places: number[];
  taken: number;
}

/** Finds a place for one, and moves others for it where that is needed. @returns whether there is any. */
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

/** Gives `last` a free place, and the place that this leaves to whoever wanted it, until `first` has one. */
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
