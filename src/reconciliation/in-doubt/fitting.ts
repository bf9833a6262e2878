import { meaningOf } from '../../gateway/upstream/status-words';
import { oneToOne } from './assignment';
import { Rules, Seen, SentCall, Wanted } from './calls-in-doubt';
import { Batch } from './batches';
import { Created, isOtherType } from '../../operations/effects';
import { haveKindInCommon, maybeSameOne, sameOne } from './recipients';
import { Work } from './work';

/** A batch whose transactions are all items of this call. */
export interface Fitting {
  batch: Batch;
  /** The position of the item of each transaction. */
  positions: number[];
}

/**
 * Matches a batch with all or part of a call. Each transaction must be an item of its own, made within the call's time.
 */
export function* fit(call: SentCall, created: Created, batch: Batch, rules: Rules): Work<Fitting | undefined> {
  yield batch.length;
  if (batch.length > call.items.length || !batch.every(({ issuedAt }) => isInTime(call, issuedAt, rules))) return;
  const given = yield* oneToOne(batch, call.items, (seen, item) => isSame(item, seen, created), kindOf);
  return given && { batch, positions: given.map((at) => (call.items[at] as Wanted).position) };
}

/** Returns the items of a call that differ in what transactions are compared by. */
export function distinctItems({ items }: SentCall): Wanted[] {
  const byContent = new Map(
    items.map((item) => [JSON.stringify([item.names, item.payee, item.amountUsd, item.reference]), item]),
  );
  return [...byContent.values()];
}

/**
 * Tells how a batch relates to these items: not at all, in some way, or by paying one of their recipients other
 * amounts.
 */
export function* relationOf(items: Wanted[], created: Created, batch: Batch): Work<'none' | 'other amounts' | 'some'> {
  let isTouched = false;
  for (const seen of batch) {
    yield items.length;
    for (const item of items) {
      if (!mightBe(item, seen, created)) continue;
      isTouched = true;
      // The amounts of a collection are in another currency.
      if (created.incoming || isSameAmount(item, seen) !== false) return 'some';
    }
  }
  return isTouched ? 'other amounts' : 'none';
}

function isInTime({ sentFrom, sentUntil }: SentCall, at: Date | null, { skewMs, quietMs }: Rules): boolean {
  if (at === null) return false;
  return at.getTime() >= sentFrom.getTime() - skewMs && at.getTime() <= sentUntil.getTime() + quietMs + skewMs;
}

/** Whether a transaction equals an item in everything that both state. */
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

/** Undefined if one of the two states no amount. */
function isSameAmount(item: Wanted, seen: Seen): boolean | undefined {
  if (item.amountUsd === null || seen.amountUsd === null) return undefined;
  return item.amountUsd === seen.amountUsd;
}

/** Whether a transaction could be an item that the upstream changed in some way. */
function mightBe(item: Wanted, seen: Seen, created: Created): boolean {
  const amount = created.incoming ? undefined : isSameAmount(item, seen);
  if (isOtherType(seen.type, created) && amount !== true) return false;
  if (created.incoming && item.reference !== null && seen.references.includes(item.reference)) return true;
  if (maybeSameOne(item.names, seen.names)) return true;
  if (item.names.length === 0 || seen.names.length === 0) return amount !== false;
  // A recipient paid by handle may be listed by email address.
  return amount === true && !isOtherType(seen.type, created) && !haveKindInCommon(item.names, seen.names);
}
