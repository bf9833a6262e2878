import { meaningOf } from '../../gateway/upstream/status-words';
import { oneToOne } from './assignment';
import { Rules, Seen, SentCall, Wanted } from './calls-in-doubt';
import { Batch } from './batches';
import { Created, isOtherType } from '../../operations/effects';
import { haveKindInCommon, maybeSameOne, sameOne } from './recipients';
import { Work } from './work';

/** A batch of which each transaction is an item of this call. */
export interface Fitting {
  batch: Batch;
  /** Of each transaction, the position of its item. */
  positions: number[];
}

/** Whether a batch is this call, or some of it: each transaction an item of its own, all made in its time. */
export function* fit(call: SentCall, created: Created, batch: Batch, rules: Rules): Work<Fitting | undefined> {
  yield batch.length;
  if (batch.length > call.items.length || !batch.every(({ issuedAt }) => isInTime(call, issuedAt, rules))) return;
  const given = yield* oneToOne(batch, call.items, (seen, item) => isSame(item, seen, created), kindOf);
  return given && { batch, positions: given.map((at) => (call.items[at] as Wanted).position) };
}

/** The items of a call that differ from each other in what a transaction is compared by. */
export function distinctItems({ items }: SentCall): Wanted[] {
  const byContent = new Map(
    items.map((item) => [JSON.stringify([item.names, item.payee, item.amountUsd, item.reference]), item]),
  );
  return [...byContent.values()];
}

/**
 * Says what a batch has to do with these items: nothing, or something, or as much as that somebody of them was paid other
 * amounts.
 */
export function* relationOf(items: Wanted[], created: Created, batch: Batch): Work<'none' | 'other amounts' | 'some'> {
  let isTouched = false;
  for (const seen of batch) {
    yield items.length;
    for (const item of items) {
      if (!mightBe(item, seen, created)) continue;
      isTouched = true;
      // A collection's amounts are in another currency.
      if (created.incoming || isSameAmount(item, seen) !== false) return 'some';
    }
  }
  return isTouched ? 'other amounts' : 'none';
}

function isInTime({ sentFrom, sentUntil }: SentCall, at: Date | null, { skewMs, quietMs }: Rules): boolean {
  if (at === null) return false;
  return at.getTime() >= sentFrom.getTime() - skewMs && at.getTime() <= sentUntil.getTime() + quietMs + skewMs;
}

/** Whether a transaction is what an item asked for, in all that both say. */
function isSame(item: Wanted, seen: Seen, created: Created): boolean {
  if (isOtherType(seen.type, created) || !sameOne(item.payee, seen.names)) return false;
  if (created.paidAtOnce && meaningOf(seen.status) === 'unpaid') return false;
  if (created.incoming) return item.reference !== null && seen.references.includes(item.reference);
  if (item.reference && seen.references.length > 0 && !seen.references.includes(item.reference)) return false;
  return isSameAmount(item, seen) === true;
}

function kindOf({ type, status, amountUsd, names, references }: Seen): string {
  return JSON.stringify([type, status, amountUsd, names, references]);
}

/** Undefined where one of them says none. */
function isSameAmount(item: Wanted, seen: Seen): boolean | undefined {
  if (item.amountUsd === null || seen.amountUsd === null) return undefined;
  return item.amountUsd === seen.amountUsd;
}

/** Whether a transaction could be what an item asked for, if something of it is other than it was asked for. */
function mightBe(item: Wanted, seen: Seen, created: Created): boolean {
  const amount = created.incoming ? undefined : isSameAmount(item, seen);
  if (isOtherType(seen.type, created) && amount !== true) return false;
  if (created.incoming && item.reference !== null && seen.references.includes(item.reference)) return true;
  if (maybeSameOne(item.names, seen.names)) return true;
  if (item.names.length === 0 || seen.names.length === 0) return amount !== false;
  // Whoever was paid by a handle may be listed by an e-mail address.
  return amount === true && !isOtherType(seen.type, created) && !haveKindInCommon(item.names, seen.names);
}
