import type { RecordPerson } from '../api/generated/schema';

/** A record in the log, read from its leaf. */
export type Leaf = Record<string, unknown>;

/**
 * The records of a call by their kinds. A kind is missing if it has no record, or none that can be read. Of
 * several settlements, it is the last one in the log.
 */
export type Leaves = Partial<Record<string, Leaf>>;

/** Returns a member of a leaf as a list. */
export const listOf = (list: unknown) => (Array.isArray(list) ? (list as Leaf[]) : []);

/** Compares the values on a page with those of a record, by the form of each value. */
export class Comparison {
  /** Number of compared values. */
  count = 0;
  /** Differences, as sentences. Empty if everything agrees. */
  readonly faults: string[] = [];

  /** Compares plain values. Null equals a value that an old record lacks. */
  plain(what: string, shown: unknown, recorded: unknown): void {
    this.holds((shown ?? null) === (recorded ?? null), what, shown, recorded);
  }

  /** Compares text whose contacts may be masked with dots. */
  text(what: string, shown: string | null | undefined, recorded: unknown): void {
    const same = typeof shown === 'string' && typeof recorded === 'string' && isMaskOf(shown, recorded);
    this.holds(same || (shown ?? null) === (recorded ?? null), what, shown, recorded);
  }

  /** Compares decimal text, with or without trailing zeros. */
  amount(what: string, shown: string | null | undefined, recorded: unknown): void {
    this.holds(plainDecimal(shown) === plainDecimal(recorded), what, shown, recorded);
  }

  /** Compares times. The record has microseconds, and the page milliseconds. */
  time(what: string, shown: string | null | undefined, recorded: unknown): void {
    const cut = typeof recorded === 'string' ? recorded.replace(/(\.\d{3})\d{3}Z$/, '$1Z') : recorded;
    this.holds((shown ?? null) === (cut ?? null), what, shown, recorded);
  }

  /** Compares the author of a record. */
  person(what: string, shown: RecordPerson | null | undefined, leaf: Leaf): void {
    this.plain(`${what} (client)`, shown?.client.id, leaf.client_id);
    this.plain(`${what} (key)`, shown?.key_id, leaf.key_id);
    this.text(`${what} (person)`, shown?.actor, leaf.actor);
  }

  /** Records a comparison that was made elsewhere. */
  holds(same: boolean, what: string, shown: unknown, recorded: unknown): void {
    this.count += 1;
    if (!same)
      this.faults.push(`${what}: the page shows ${inWords(shown)}, the record has ${inWords(recorded)}.`);
  }
}

/** Returns whether a text equals the recorded one with parts replaced by dots. */
function isMaskOf(shown: string, recorded: string): boolean {
  if (!shown.includes('••')) return shown === recorded;
  const parts = shown.split(/•+/);
  let at = 0;
  for (const [place, part] of parts.entries()) {
    const found = place === parts.length - 1 ? recorded.length - part.length : recorded.indexOf(part, at);
    if (found < at || !recorded.startsWith(part, found) || (place === 0 && found > 0)) return false;
    at = found + part.length;
  }
  return true;
}

function plainDecimal(amount: unknown): unknown {
  if (typeof amount !== 'string') return amount ?? null;
  const [, whole = amount, decimals = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  const kept = decimals.replace(/0+$/, '');
  return kept === '' ? whole : `${whole}.${kept}`;
}

const inWords = (value: unknown) =>
  value === null || value === undefined ? 'nothing' : JSON.stringify(value);
