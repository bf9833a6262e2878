import { Seen, Sent } from './doubt';
import { isOtherType, MADE } from './made';
import { haveKindInCommon, looseKey } from './recipients';

/** The transactions of one batch: one request makes one issue (upstream-observed.md, "Identifiers"). */
export type Issue = Seen[];

/** The issues of a listing, by whom they name: an outage leaves thousands of calls in doubt, among thousands of transactions. */
export class Issues {
  private readonly all: Issue[];
  private readonly byName = new Map<string, Set<Issue>>();
  /** Those with a transaction that names nobody, or not in full. */
  private readonly unnamed = new Set<Issue>();
  /** By their types, and the kinds of names (an e-mail address, a phone number) that they have. */
  private readonly alike = new Map<string, { type: string | null; names: string[]; issues: Set<Issue> }>();

  constructor(seen: Seen[]) {
    this.all = issuesOf(seen);
    for (const issue of this.all) for (const one of issue) this.add(issue, one);
  }

  /** All that could have to do with a call. */
  about({ operation, items }: Sent): Issue[] {
    if (items.some(({ names }) => names.length === 0)) return this.all;
    const names = items.flatMap((item) => [...item.names.map(looseKey), referenceKey(item.reference ?? '')]);
    const found = names.flatMap((name) => [...(this.byName.get(name) ?? [])]);
    const made = MADE.get(operation);
    const otherwise = [...this.alike.values()].filter(
      ({ type, names: theirs }) =>
        !(made && isOtherType(type, made)) && items.some((item) => !haveKindInCommon(item.names, theirs)),
    );
    return [...new Set([...found, ...this.unnamed, ...otherwise.flatMap(({ issues }) => [...issues])])];
  }

  private add(issue: Issue, { type, names, references }: Seen): void {
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
   * For each operation, when the newest call of ours was sent whose transaction the listing shows at that time. For this
   * operation the listing is no older than that. An operation without such a call is missing: later airtime proves nothing
   * about mobile money, which the upstream may list later.
   */
  freshUntil: ReadonlyMap<string, Date>;
}

/** No name begins like that. */
function referenceKey(reference: string): string {
  return `reference ${reference}`;
}

/** What names no issue stands alone. */
function issuesOf(seen: Seen[]): Issue[] {
  const issues = new Map<string, Issue>();
  for (const one of seen) {
    const name = one.issueId ?? `/${one.ordinal}`;
    const issue = issues.get(name);
    if (issue) issue.push(one);
    else issues.set(name, [one]);
  }
  return [...issues.values()];
}
