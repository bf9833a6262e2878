import { Rules, SentCall } from './calls-in-doubt';
import { fit } from './fitting';
import { Batch } from './batches';
import { CREATED_BY } from '../../operations/effects';
import { keysOfItem, keysOfSeen, Timetable } from './payments';
import { each, Work } from './work';

/** The most competing calls of a batch. One of them is the call in doubt, and a verdict names at most 100. */
const MOST_NAMED = 101;

/**
 * Indexes competing calls: calls that could have created the same transactions as a call in doubt. They are found by
 * recipient, amount and time, because thousands of calls may have paid the same.
 */
export class Competing {
  private readonly bySending = new Timetable<SentCall>();
  /** The longest time that one of them may have taken. */
  private longestMs = 0;
  private readonly named = new Map<Batch, SentCall[]>();
  private readonly explained = new Map<Batch, boolean>();

  private constructor(private readonly rules: Rules) {}

  static *of(calls: Iterable<SentCall>, rules: Rules): Work<Competing> {
    const competing = new Competing(rules);
    yield* each(calls, (call) => competing.add(call));
    competing.bySending.sort();
    return competing;
  }

  /**
   * Returns the first calls that a batch could be all or part of. A batch can be a part, if only a part was carried out
   * or listed yet.
   */
  *callsOf(batch: Batch): Work<SentCall[]> {
    const known = this.named.get(batch);
    if (known) return known;
    const found: SentCall[] = [];
    for (const call of this.near(batch)) {
      if (yield* this.fits(call, batch)) found.push(call);
      if (found.length === MOST_NAMED) break;
    }
    this.named.set(batch, found);
    return found;
  }

  /** Returns whether a batch is the complete result of one of our calls. */
  *explains(batch: Batch): Work<boolean> {
    const known = this.explained.get(batch);
    if (known !== undefined) return known;
    let isExplained = false;
    for (const call of this.near(batch)) {
      isExplained = call.items.length === batch.length && (yield* this.fits(call, batch));
      yield 1;
      if (isExplained) break;
    }
    this.explained.set(batch, isExplained);
    return isExplained;
  }

  private add(call: SentCall): void {
    const created = CREATED_BY.get(call.operation);
    if (!created) return;
    const from = call.sentFrom.getTime();
    this.longestMs = Math.max(this.longestMs, call.sentUntil.getTime() - from);
    const keys = new Set(call.items.flatMap((item) => keysOfItem(item, created)));
    for (const key of keys) this.bySending.add(key, from, call);
  }

  /** Finds calls that were in progress when a batch was created, and that have an item like its first transaction. */
  private *near(batch: Batch): Iterable<SentCall> {
    const [first] = batch;
    if (!first || first.issuedAt === null) return;
    const { skewMs, quietMs } = this.rules;
    const at = first.issuedAt.getTime();
    const found = new Set<SentCall>();
    for (const key of new Set(keysOfSeen(first))) {
      for (const call of this.bySending.between(key, at - skewMs - quietMs - this.longestMs, at + skewMs)) {
        if (found.has(call)) continue;
        found.add(call);
        yield call;
      }
    }
  }

  private *fits(call: SentCall, batch: Batch): Work<boolean> {
    const created = CREATED_BY.get(call.operation);
    return created !== undefined && (yield* fit(call, created, batch, this.rules)) !== undefined;
  }
}
