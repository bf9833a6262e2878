import { Decimal } from 'decimal.js';
import { NewOutcome, UpstreamItem } from '../../../journal/records/records';
import { OperationName, rowOf } from '../../../operations/catalogue/catalogue';
import { FeeRule } from '../../../operations/items/fees';
import { Item } from '../../../operations/items/item';
import { countedAfterAnswer, entriesOfAnswer } from '../../../operations/lifecycle/settlement';
import { StatusVocabulary } from '../../../operations/lifecycle/statuses';
import { payoutsIn } from '../../upstream/answers/payouts';
import { transactionsIn } from '../../upstream/answers/transactions';
import { TimedAnswer } from '../../upstream/upstream-account';
import { withPayouts } from './handovers';
import { AnsweredCall, matchItems } from './match';

/**
 * Returns the outcome of a call after the upstream's answer: its transactions, the entry of each item, and
 * the amount that counts on caps.
 * @param answerOf the call that fetched the answer. Null for this call.
 */
export function outcomeOf(
  { id, operation, feeRule }: { id: string; operation: OperationName; feeRule: FeeRule | null },
  items: Item[],
  { answer, sentAt, answeredAt, upstreamMs, tries }: TimedAnswer,
  vocabulary: StatusVocabulary,
  answerOf: string | null = null,
): NewOutcome {
  const changes = rowOf(operation).effect !== 'read';
  const transactions = changes && answer.body ? itemsIn(answer.body, items, { operation, feeRule }) : [];
  return {
    intentId: id,
    kind: answer.kind,
    failure: answer.failure,
    upstreamStatus: answer.status,
    contentType: answer.contentType,
    retryAfter: answer.retryAfter,
    body: answerOf === null ? answer.body : null,
    items: transactions,
    ...(changes && settlementOf({ operation, feeRule }, answer.kind, items, transactions, vocabulary)),
    attempts: tries.length,
    tries: answerOf === null ? triesOf(tries) : [],
    sentAt,
    answeredAt,
    upstreamMs,
    answerOf,
  };
}

function itemsIn(body: Buffer, items: Item[], call: AnsweredCall): UpstreamItem[] {
  return withPayouts(items, matchItems(items, transactionsIn(body), call), payoutsIn(body));
}

/** Returns the entries of a call's items, and the amount that counts on caps. */
function settlementOf(
  { operation, feeRule }: { operation: OperationName; feeRule: FeeRule | null },
  kind: NewOutcome['kind'],
  items: Item[],
  transactions: UpstreamItem[],
  vocabulary: StatusVocabulary,
): Pick<NewOutcome, 'entries' | 'countedUsd'> {
  const statuses = transactions.map((transaction) => {
    const { position, upstreamRef, upstreamId, payoutStatus, payoutError, differs } = transaction;
    const status = transaction.status ?? payoutStatus ?? payoutError ?? null;
    const isNamed = (upstreamRef ?? upstreamId) !== null;
    const isRefused = position === null && differs !== undefined;
    return { position, status, meaning: vocabulary.statusOfItem(transaction), isNamed, isRefused };
  });
  const entries = entriesOfAnswer(operation, kind, items.length, statuses);
  const feesUsd = new Map<number, Decimal>();
  const known = new Set<number>();
  for (const { position, feeUsd, upstreamRef, upstreamId } of transactions) {
    if (position === null) continue;
    if (feeUsd) feesUsd.set(position, feeUsd);
    if ((upstreamRef ?? upstreamId) !== null || feeUsd) known.add(position);
  }
  const counted = countedAfterAnswer(kind, items, entries, { feesUsd, named: known }, feeRule);
  return { entries, countedUsd: counted?.toFixed() ?? null };
}

function triesOf(tries: TimedAnswer['tries']): NewOutcome['tries'] {
  return tries.map(({ startedAt, ms, phase, answer: { status, failure } }) => ({
    startedAt,
    ms,
    phase,
    status,
    failure,
  }));
}
