import { CreationRules, CREATED_BY, isOtherType } from '../../../src/operations/items/effects';
import {
  Rules,
  ListedTransaction,
  SentCall,
  ItemInDoubt,
} from '../../../src/reconciliation/in-doubt/calls-in-doubt';
import { distinctItems, relationOf } from '../../../src/reconciliation/in-doubt/verdict/batch-match';

/** Compares a call with all transactions and all other calls, one by one. Slow, but evidently correct. */
export function compareWithAll(call: SentCall, seen: ListedTransaction[], calls: SentCall[], rules: Rules) {
  const names = [...new Set(seen.map(nameOf))];
  const batches = names.map((name) => seen.filter((one) => nameOf(one) === name));
  const equal = batches.filter((batch) => isPartOf(call, batch, rules));
  const proven = equal.filter((batch) => batch.some(({ namedCallId }) => namedCallId === call.id));
  const ours = proven.length > 0 ? proven : equal;
  const others = calls.filter(
    (other) => other.id !== call.id && ours.some((batch) => isPartOf(other, batch, rules)),
  );
  const unexplained = batches.filter((batch) => isRelated(call, batch, calls, rules));
  const sole = ours.length === 1 && others.length === 0 ? ours[0] : undefined;
  return { ours, others, unexplained, sole };
}

/** Names the batch of a transaction. One without a batch forms its own. */
function nameOf({ batchRef, ordinal }: ListedTransaction): string {
  return batchRef ?? `${ordinal}`;
}

/** Whether each transaction of a batch can be another item of a call. */
function isPartOf(call: SentCall, batch: ListedTransaction[], { quietMs, skewMs }: Rules): boolean {
  const created = CREATED_BY.get(call.operation) as CreationRules;
  const from = call.sentFrom.getTime() - skewMs;
  const until = call.sentUntil.getTime() + quietMs + skewMs;
  const isInTime = ({ issuedAt }: ListedTransaction) =>
    issuedAt !== null && issuedAt.getTime() >= from && issuedAt.getTime() <= until;
  return batch.every(isInTime) && canAssign(batch, call.items, created);
}

function canAssign(
  [first, ...rest]: ListedTransaction[],
  items: ItemInDoubt[],
  created: CreationRules,
): boolean {
  if (!first) return true;
  return items.some(
    (item) =>
      isEqual(item, first, created) &&
      canAssign(
        rest,
        items.filter((one) => one !== item),
        created,
      ),
  );
}

/** Whether a transaction equals an item in every field present in both. */
function isEqual(item: ItemInDoubt, seen: ListedTransaction, created: CreationRules): boolean {
  if (isOtherType(seen.type, created) || !item.payee.some((name) => seen.names.includes(name))) return false;
  if (created.paidAtOnce && seen.meaning === 'unpaid') return false;
  if (seen.namedCallId !== null && (item.reference === null || !seen.references.includes(item.reference)))
    return false;
  if (created.incoming) return item.reference !== null && seen.references.includes(item.reference);
  if (item.reference && seen.references.length > 0 && !seen.references.includes(item.reference)) return false;
  return item.amountUsd !== null && item.amountUsd === seen.amountUsd;
}

function isRelated(call: SentCall, batch: ListedTransaction[], calls: SentCall[], rules: Rules): boolean {
  const created = CREATED_BY.get(call.operation) as CreationRules;
  const relations = batch.flatMap((seen) =>
    distinctItems(call).map((item) => relationOf(item, seen, created)),
  );
  if (relations.includes('some')) return true;
  const isExplained = calls.some((one) => one.items.length === batch.length && isPartOf(one, batch, rules));
  return relations.includes('other amount') && !isExplained;
}
