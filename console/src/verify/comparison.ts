/** Compares what a page shows with what a record says, each value in the ways in which the two may write it. */
export class Comparison {
  /** How many values were compared. */
  count = 0;
  /** Sentences; none: everything agrees. */
  readonly faults: string[] = [];

  /** Also numbers, booleans; null and what an old record does not have are the same. */
  plain(what: string, shown: unknown, recorded: unknown): void {
    this.holds((shown ?? null) === (recorded ?? null), what, shown, recorded);
  }

  /** Text of which contacts may be masked (with dots) where it is shown. */
  text(what: string, shown: string | null | undefined, recorded: unknown): void {
    const same = typeof shown === 'string' && typeof recorded === 'string' && isMaskOf(shown, recorded);
    this.holds(same || (shown ?? null) === (recorded ?? null), what, shown, recorded);
  }

  /** Decimal text, with or without zeros at its end. */
  amount(what: string, shown: string | null | undefined, recorded: unknown): void {
    this.holds(plainDecimal(shown) === plainDecimal(recorded), what, shown, recorded);
  }

  /** The record has microseconds, the page milliseconds. */
  time(what: string, shown: string | null | undefined, recorded: unknown): void {
    const cut = typeof recorded === 'string' ? recorded.replace(/(\.\d{3})\d{3}Z$/, '$1Z') : recorded;
    this.holds((shown ?? null) === (cut ?? null), what, shown, recorded);
  }

  /** What is said of it has been found out already. */
  holds(same: boolean, what: string, shown: unknown, recorded: unknown): void {
    this.count += 1;
    if (!same) this.faults.push(`${what}: the page shows ${inWords(shown)}, the record says ${inWords(recorded)}.`);
  }
}

/** Whether the text is the other one with dots in the place of some of it. */
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

const inWords = (value: unknown) => (value === null || value === undefined ? 'nothing' : JSON.stringify(value));
