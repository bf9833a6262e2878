import { Rules, Seen, Sent, Wanted } from './calls-in-doubt';
import { Created, CREATED_BY, isOtherType } from '../../operations/effects';
import { keysOfItem, keysOfSeen, referenceKey, Timetable } from './payments';
import { haveKindInCommon, looseKey } from './recipients';
import { each, Work } from './work';

/** The transactions of one batch: one request makes one issue (upstream-observed.md, "Identifiers"). */
export type Issue = Seen[];

/** The issues of a listing, by whom they name: an outage leaves thousands of calls in doubt, among thousands of transactions. */
export class Issues {
  /** Amounts of all transactions, and their earliest and latest time. */
  readonly amounts = new Set<string>();
  earliest = Infinity;
  latest = -Infinity;
  private readonly all = new Map<string, Issue>();
  private readonly byName = new Map<string, Set<Issue>>();
  /** Those with a transaction that names nobody, or not in full. */
  private readonly unnamed = new Set<Issue>();
  /** By their types, and the kinds of names (an e-mail address, a phone number) that they have. */
  private readonly alike = new Map<string, { type: string | null; names: string[]; issues: Set<Issue> }>();
  /** By what their first transaction pays to whom: each transaction of an issue must be an item of its call. */
  private readonly payments = new Timetable<Issue>();

  private constructor() {}

  static *of(seen: Seen[]): Work<Issues> {
    const issues = new Issues();
    yield* each(seen, (one) => issues.add(one));
    yield* each(issues.all.values(), (issue) => issues.addPayment(issue));
    issues.payments.sort();
    return issues;
  }

  /** All that could be a call, or some of it, judged by a transaction of each: in its time, and by the same keys. */
  *like({ items, sentFrom, sentUntil }: Sent, created: Created, { skewMs, quietMs }: Rules): Iterable<Issue> {
    const from = sentFrom.getTime() - skewMs;
    const to = sentUntil.getTime() + quietMs + skewMs;
    const found = new Set<Issue>();
    for (const key of new Set(items.flatMap((item) => keysOfItem(item, created)))) {
      for (const issue of this.payments.between(key, from, to)) {
        if (found.has(issue)) continue;
        found.add(issue);
        yield issue;
      }
    }
  }

  /** All that could have to do with a call. */
  *about({ operation, items }: Sent): Iterable<Issue> {
    const found = new Set<Issue>();
    for (const issues of this.setsAbout(operation, items)) {
      for (const issue of issues) {
        if (found.has(issue)) continue;
        found.add(issue);
        yield issue;
      }
    }
  }

  /** Whether anything could have to do with a call. */
  hasAbout(call: Sent): boolean {
    for (const _ of this.about(call)) return true;
    return false;
  }

  private *setsAbout(operation: string, items: Wanted[]): Iterable<Iterable<Issue>> {
    if (items.some(({ names }) => names.length === 0)) {
      yield this.all.values();
      return;
    }
    for (const item of items) {
      for (const name of [...item.names.map(looseKey), referenceKey(item.reference ?? '')]) {
        yield this.byName.get(name) ?? [];
      }
    }
    yield this.unnamed;
    const created = CREATED_BY.get(operation);
    for (const { type, names, issues } of this.alike.values()) {
      const isOther = created !== undefined && isOtherType(type, created);
      if (!isOther && items.some((item) => !haveKindInCommon(item.names, names))) yield issues;
    }
  }

  /** What names no issue stands alone. */
  private add(one: Seen): void {
    const { type, names, references, amountUsd, issuedAt } = one;
    const issue = added(this.all, one.batchRef ?? `/${one.ordinal}`, one);
    if (names.length === 0) this.unnamed.add(issue);
    const kinds = names.map((name) => name.slice(0, 2)).sort();
    const key = [type?.toLowerCase() ?? null, ...kinds].join(' ');
    const like = this.alike.get(key) ?? { type, names, issues: new Set<Issue>() };
    this.alike.set(key, like);
    like.issues.add(issue);
    for (const name of [...names.map(looseKey), ...references.map(referenceKey)]) {
      const known = this.byName.get(name);
      if (known) known.add(issue);
      else this.byName.set(name, new Set([issue]));
    }
    if (amountUsd !== null) this.amounts.add(amountUsd);
    if (issuedAt === null) return;
    this.earliest = Math.min(this.earliest, issuedAt.getTime());
    this.latest = Math.max(this.latest, issuedAt.getTime());
  }

  private addPayment(issue: Issue): void {
    const [first] = issue;
    if (!first || first.issuedAt === null) return; // without a time it could be of any
    for (const key of new Set(keysOfSeen(first))) this.payments.add(key, first.issuedAt.getTime(), issue);
  }
}

/** The upstream's listing, as far as our records do not say whose its transactions are. */
export interface Listing {
  readId: string;
  /** When it was asked for. */
  askedAt: Date;
  /** Transactions that belong to no other call of ours for certain. */
  unclaimed: Issues;
  /** Transactions of ours that should be in it and are not: with any, it is not complete. */
  missing: number;
  /** When the oldest transaction in it was issued: whether something older was cut off cannot be known. */
  oldest: Date | null;
  /**
   * For each kind of transaction, by its name, when the newest call of ours was sent whose transaction the listing shows at that time. For
   * this kind the listing is no older than that. A kind without such a call is missing: later airtime proves nothing about
   * mobile money, which the upstream may list later.
   */
  freshUntil: ReadonlyMap<string, Date>;
}

function added(issues: Map<string, Issue>, name: string, one: Seen): Issue {
  const issue = issues.get(name);
  if (!issue) {
    const begun = [one];
    issues.set(name, begun);
    return begun;
  }
  issue.push(one);
  return issue;
}
