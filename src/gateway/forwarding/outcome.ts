import { Decimal } from 'decimal.js';
import { NewOutcome, UpstreamItem } from '../../journal/records';
import { OperationName, rowOf } from '../../operations/catalogue';
import { Item } from '../../operations/item';
import { countedAfterAnswer, entriesOfAnswer } from '../../operations/settlement';
import { StatusVocabulary } from '../../operations/statuses';
import { payoutsIn } from '../upstream/payouts';
import { transactionsIn } from '../upstream/transactions';
import { TimedAnswer } from '../upstream/upstream.service';
import { matchItems } from './match';
import { withPayouts } from './match-payouts';

/**
 * Returns the outcome of a call after the upstream's answer: its transactions, what became of each item, and what counts
 * against caps.
 * @param answerOf the call that fetched the answer, if this one did not.
 */
export function outcomeOf(
  { id, operation }: { id: string; operation: OperationName },
  items: Item[],
  { answer, sentAt, answeredAt, upstreamMs, tries }: TimedAnswer,
  vocabulary: StatusVocabulary,
  answerOf: string | null = null,
): NewOutcome {
  const changes = rowOf(operation).effect !== 'read';
  const transactions = changes && answer.body ? itemsIn(answer.body, items) : [];
  return {
    intentId: id,
    kind: answer.kind,
    failure: answer.failure,
    upstreamStatus: answer.status,
    contentType: answer.contentType,
    retryAfter: answer.retryAfter,
    body: answerOf === null ? answer.body : null,
    items: transactions,
    ...(changes && settledBy(operation, answer.kind, items, transactions, vocabulary)),
    attempts: tries.length,
    tries: answerOf === null ? triesOf(tries) : [],
    sentAt,
    answeredAt,
    upstreamMs,
    answerOf,
  };
}

function itemsIn(body: Buffer, items: Item[]): UpstreamItem[] {
  return withPayouts(items, matchItems(items, transactionsIn(body)), payoutsIn(body));
}

/** Returns what became of the items of a call, and what they count against caps. */
function settledBy(
  operation: OperationName,
  kind: NewOutcome['kind'],
  items: Item[],
  transactions: UpstreamItem[],
  vocabulary: StatusVocabulary,
): Pick<NewOutcome, 'entries' | 'countedUsd'> {
  const named = transactions.map((one) => {
    const status = one.status ?? one.payoutStatus ?? one.payoutError ?? null;
    return { position: one.position, status, meaning: vocabulary.statusOfItem(one) };
  });
  const entries = entriesOfAnswer(operation, kind, items.length, named);
  const fees = new Map<number, Decimal>();
  for (const { position, feeUsd } of transactions) if (position !== null && feeUsd) fees.set(position, feeUsd);
  return { entries, countedUsd: countedAfterAnswer(kind, items, entries, fees)?.toFixed() ?? null };
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
