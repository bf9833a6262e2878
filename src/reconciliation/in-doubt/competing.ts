import { Batch, Rules, SentCall } from './calls-in-doubt';
import { fit, timeOf } from './fitting';
import { CREATED_BY } from '../../operations/effects';
import { keysOfItem, keysOfSeen, rarest } from './payments';
import { Timetable } from './timetable';
import { Work } from './work';

/** The most competing calls of a batch. One of them is the call in doubt, and a verdict names at most 100. */
const MOST_NAMED = 101;

/**
 * Indexes competing calls: calls that could have created the same transactions as a call in doubt. They are found by
 * payment and time, because thousands of calls may have paid the same.
 */
export class Competing {
  private readonly byPayment = new Timetable<SentCall>();
  private readonly named = new Map<Batch, SentCall[]>();
  private readonly explained = new Map<Batch, boolean>();
  private readonly unexplainedOf = new Map<readonly Batch[], Batch[]>();

  private constructor(private readonly rules: Rules) {}

  static *of(calls: Iterable<SentCall>, rules: Rules): Work<Competing> {
    const competing = new Competing(rules);
    for (const call of calls) {
      competing.add(call);
      yield call.items.length;
    }
    return competing;
  }

  /**
   * Returns the first calls that a batch could be all or part of. A batch can be a part, if only a part was carried out
   * or listed yet.
   */
  *callsOf(batch: Batch): Work<SentCall[]> {
    const known = this.named.get(batch);
    if (known) return known;
    const found = yield* this.fitting(batch, Infinity, MOST_NAMED);
    this.named.set(batch, found);
    return found;
  }

  /** Returns those of some batches that are not the complete result of one of our calls. */
  *unexplained(batches: readonly Batch[]): Work<readonly Batch[]> {
    const known = this.unexplainedOf.get(batches);
    if (known) return known;
    const found: Batch[] = [];
    for (const batch of batches) if (!(yield* this.explains(batch))) found.push(batch);
    this.unexplainedOf.set(batches, found);
    return found;
  }

  private *explains(batch: Batch): Work<boolean> {
    const known = this.explained.get(batch);
    yield 1;
    if (known !== undefined) return known;
    const isExplained = (yield* this.fitting(batch, batch.length, 1)).length > 0;
    this.explained.set(batch, isExplained);
    return isExplained;
  }

  private add(call: SentCall): void {
    const created = CREATED_BY.get(call.operation);
    if (!created) return;
    const place = { size: call.items.length, ...timeOf(call, this.rules) };
    const keys = new Set(call.items.flatMap((item) => keysOfItem(item, created)));
    for (const key of keys) this.byPayment.add(key, place, call);
  }

  /** Finds the first calls, with at most some items, that a batch could be all or part of. */
  private *fitting(batch: Batch, most: number, limit: number): Work<SentCall[]> {
    const found = new Set<SentCall>();
    const seen = rarest(batch, (key) => this.byPayment.count(key));
    yield batch.length;
    if (!seen || seen.issuedAt === null) return [];
    const at = seen.issuedAt.getTime();
    for (const key of new Set(keysOfSeen(seen))) {
      for (const call of this.byPayment.overlapping(key, { least: batch.length, most, from: at, until: at })) {
        if (!found.has(call) && (yield* this.fits(call, batch))) found.add(call);
        if (found.size === limit) return [...found];
      }
    }
    return [...found];
  }

  private *fits(call: SentCall, batch: Batch): Work<boolean> {
    const created = CREATED_BY.get(call.operation);
    return created !== undefined && (yield* fit(call, created, batch, this.rules)) !== undefined;
  }
}
