import { Seen, Wanted } from './calls-in-doubt';
import { Created } from '../../operations/effects';

/** The keys by which an item meets the transactions that may be its payment. */

/** Returns the keys of an item: its recipient and amount, or its reference if amounts cannot be compared. */
export function keysOfItem({ payee, amountUsd, reference }: Wanted, { incoming }: Created): string[] {
  if (incoming) return reference === null ? [] : [referenceKey(reference)];
  return amountUsd === null ? [] : payee.map((name) => paymentKey(name, amountUsd));
}

/** Returns all keys by which an item may look for a transaction. */
export function keysOfSeen({ names, amountUsd, references }: Seen): string[] {
  const payments = amountUsd === null ? [] : names.map((name) => paymentKey(name, amountUsd));
  return [...payments, ...references.map(referenceKey)];
}

function paymentKey(name: string, amountUsd: string): string {
  return `${amountUsd} ${name}`;
}

/** A prefix that no name and no amount has. */
export function referenceKey(reference: string): string {
  return `reference ${reference}`;
}

/** Finds values by key and time. Add all values, sort, then query. */
export class Timetable<Entry> {
  private readonly byKey = new Map<string, { at: number; entry: Entry }[]>();

  add(key: string, at: number, entry: Entry): void {
    const known = this.byKey.get(key);
    if (known) known.push({ at, entry });
    else this.byKey.set(key, [{ at, entry }]);
  }

  /** Sorts the values. Call it once, after all are added. */
  sort(): void {
    for (const entries of this.byKey.values()) entries.sort((one, other) => one.at - other.at);
  }

  /** Returns the values of a key between two times, oldest first. */
  *between(key: string, from: number, to: number): Iterable<Entry> {
    const entries = this.byKey.get(key) ?? [];
    for (let place = firstFrom(entries, from); place < entries.length; place += 1) {
      const { at, entry } = entries[place] as { at: number; entry: Entry };
      if (at > to) return;
      yield entry;
    }
  }
}

/** @returns the index of the first value that is not before a time. */
function firstFrom(entries: readonly { at: number }[], from: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.at ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
