/** Size and period of a value, in a timetable. */
interface TimedValue {
  size: number;
  /** In ms since the epoch. */
  from: number;
  until: number;
}

interface TimetableQuery {
  /** Minimum and maximum size. */
  least: number;
  most: number;
  from: number;
  until: number;
}

/**
 * Finds values by key, size and time. Each value has a period, and a query finds the values with an
 * overlapping period. The duration of a query is proportional to its results, and to the logarithm of the
 * number of values.
 */
export class Timetable<Entry> {
  private readonly byKey = new Map<string, Periods<Entry>[]>();

  add(key: string, { size, from, until }: TimedValue, entry: Entry): void {
    let sizes = this.byKey.get(key);
    if (!sizes) this.byKey.set(key, (sizes = []));
    let periods = sizes.find((one) => one.size === size);
    if (!periods) sizes.push((periods = new Periods(size)));
    periods.add({ from, until, entry });
  }

  /** Returns the number of values of a key. */
  count(key: string): number {
    return (this.byKey.get(key) ?? []).reduce((sum, { length }) => sum + length, 0);
  }

  /** Yields the values of a key by size, and within a size by the start of their periods. */
  *overlapping(key: string, { least, most, from, until }: TimetableQuery): Iterable<Entry> {
    for (const periods of this.byKey.get(key) ?? []) {
      if (periods.size >= least && periods.size <= most) yield* periods.overlapping(from, until);
    }
  }
}

/** A value with its period. */
interface TimedEntry<Entry> {
  from: number;
  until: number;
  entry: Entry;
}

/** Periods of one key and size, sorted by their start, with a tree of their latest ends. */
class Periods<Entry> {
  private readonly periods: TimedEntry<Entry>[] = [];
  /**
   * A complete binary tree. The children of node `n` are `2n` and `2n + 1`, and the leaves are the ends of
   * the periods. Each node has the latest end below it. Undefined until it is needed.
   */
  private latest: Float64Array | undefined;

  constructor(readonly size: number) {}

  get length(): number {
    return this.periods.length;
  }

  add(period: TimedEntry<Entry>): void {
    this.periods.push(period);
    this.latest = undefined;
  }

  *overlapping(from: number, until: number): Iterable<Entry> {
    const latest = (this.latest ??= this.sort());
    for (let index = firstUntil(latest, 0, from); ; index = firstUntil(latest, index + 1, from)) {
      const period = this.periods[index];
      if (!period || period.from > until) return;
      yield period.entry;
    }
  }

  private sort(): Float64Array {
    const { periods } = this;
    periods.sort((one, other) => one.from - other.from);
    const leaves = 2 ** Math.ceil(Math.log2(periods.length + 1));
    const latest = new Float64Array(2 * leaves).fill(-Infinity);
    for (const [index, { until }] of periods.entries()) latest[leaves + index] = until;
    for (let node = leaves - 1; node > 0; node -= 1) {
      latest[node] = Math.max(latest[2 * node] as number, latest[2 * node + 1] as number);
    }
    return latest;
  }
}

/**
 * Finds the first leaf, at or after an index, that is not before a time.
 * @returns the number of leaves if no leaf matches.
 */
function firstUntil(latest: Float64Array, index: number, time: number): number {
  const leaves = latest.length / 2;
  let node = leaves + index;
  if (index >= leaves) return leaves;
  while ((latest[node] as number) < time) {
    while (node % 2 === 1) node = (node - 1) / 2; // to the parent of a right child
    if (node === 0) return leaves;
    node += 1;
  }
  while (node < leaves) {
    node *= 2;
    if ((latest[node] as number) < time) node += 1;
  }
  return node - leaves;
}
