import { Rules, Sent } from './calls-in-doubt';
import { fit } from './fitting';
import { Issue } from './issues';
import { CREATED_BY } from '../../operations/effects';
import { keysOfItem, keysOfSeen, Timetable } from './payments';
import { each, Work } from './work';

/** So many calls that compete for an issue are enough: one that a call in doubt is itself, and those that a verdict names. */
const MOST_NAMED = 101;

/**
 * Competing calls: what a call in doubt could have made, they could have made. They are found by whom they pay, how much and
 * when: thousands may have paid the same.
 */
export class Competing {
  private readonly bySending = new Timetable<Sent>();
  /** The longest that one of them may have been on its way. */
  private longestMs = 0;
  private readonly named = new Map<Issue, Sent[]>();
  private readonly explained = new Map<Issue, boolean>();

  private constructor(private readonly rules: Rules) {}

  static *of(calls: Iterable<Sent>, rules: Rules): Work<Competing> {
    const competing = new Competing(rules);
    yield* each(calls, (call) => competing.add(call));
    competing.bySending.sort();
    return competing;
  }

  /** The first calls that an issue could be, or some of: it may be all that was carried out of a batch, or that is listed yet. */
  *callsOf(issue: Issue): Work<Sent[]> {
    const known = this.named.get(issue);
    if (known) return known;
    const found: Sent[] = [];
    for (const call of this.near(issue)) {
      if (yield* this.fits(call, issue)) found.push(call);
      if (found.length === MOST_NAMED) break;
    }
    this.named.set(issue, found);
    return found;
  }

  /** Whether an issue is all that a call of ours has made. */
  *explains(issue: Issue): Work<boolean> {
    const known = this.explained.get(issue);
    if (known !== undefined) return known;
    let isExplained = false;
    for (const call of this.near(issue)) {
      isExplained = call.items.length === issue.length && (yield* this.fits(call, issue));
      yield 1;
      if (isExplained) break;
    }
    this.explained.set(issue, isExplained);
    return isExplained;
  }

  private add(call: Sent): void {
    const created = CREATED_BY.get(call.operation);
    if (!created) return;
    const from = call.sentFrom.getTime();
    this.longestMs = Math.max(this.longestMs, call.sentUntil.getTime() - from);
    const keys = new Set(call.items.flatMap((item) => keysOfItem(item, created)));
    for (const key of keys) this.bySending.add(key, from, call);
  }

  /** Calls that were on their way when an issue was made, and have an item that its first transaction may be. */
  private *near(issue: Issue): Iterable<Sent> {
    const [first] = issue;
    if (!first || first.issuedAt === null) return;
    const { skewMs, quietMs } = this.rules;
    const at = first.issuedAt.getTime();
    const found = new Set<Sent>();
    for (const key of new Set(keysOfSeen(first))) {
      for (const call of this.bySending.between(key, at - skewMs - quietMs - this.longestMs, at + skewMs)) {
        if (found.has(call)) continue;
        found.add(call);
        yield call;
      }
    }
  }

  private *fits(call: Sent, issue: Issue): Work<boolean> {
    const created = CREATED_BY.get(call.operation);
    return created !== undefined && (yield* fit(call, created, issue, this.rules)) !== undefined;
  }
}
