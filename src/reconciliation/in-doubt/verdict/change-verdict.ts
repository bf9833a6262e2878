import { Change } from '../../../operations/catalogue/row';
import { CHANGED_BY, CREATED_BY } from '../../../operations/items/effects';
import { plainWord } from '../../../operations/lifecycle/statuses';
import { Lookup, ListedTransaction, Rules, SentCall, Verdict } from '../calls-in-doubt';
import { evidenceOf, isListedSince, Listing, quietUntil } from './facts';

/** Another call of ours that changes the same transaction. */
export interface CompetingChange extends Pick<SentCall, 'id' | 'operation' | 'items' | 'sentFrom'> {
  /** Whether the upstream's answer is a plain rejection, even one that is doubted. */
  wasRejected: boolean;
  /** `open` calls are in doubt. Calls that were certainly not executed do not compete. */
  state: 'executed' | 'in_progress' | 'open';
}

/** Facts that decide a verdict about a call that deletes or redeems a transaction. */
export interface ChangeFacts {
  /** The transaction at the upstream. Undefined if our records do not know its ID. */
  lookup: Lookup | undefined;
  /** Whether the upstream's answer to the call is a plain rejection, even one that is doubted. */
  wasRejected: boolean;
  competing: CompetingChange[];
  listing: Listing;
  rules: Rules;
}

/** Statuses of a transaction that was not redeemed. Others, such as `completed`, can mean that it was. */
const NOT_REDEEMED: readonly string[] = ['unpaid', 'paid', 'successful', 'success'];

/** Whether the status of a transaction shows that it was not deleted or redeemed. */
const UNTOUCHED: Record<Change, (listed: ListedTransaction) => boolean> = {
  deleted: ({ meaning }) => meaning === 'paid' || meaning === 'redeemed' || meaning === 'unpaid',
  redeemed: ({ status }) => status !== null && NOT_REDEEMED.includes(plainWord(status)),
};

/**
 * Judges a call in doubt that deletes or redeems a transaction. A transaction is deleted or redeemed once, so
 * of several calls exactly one was executed. No answer of the call counts as proof.
 * @returns undefined while more information may arrive. A call is not judged as not executed before its quiet
 * period ends.
 */
export function judgeChange(call: SentCall, facts: ChangeFacts): Verdict | undefined {
  const change = CHANGED_BY.get(call.operation);
  if (!change) return undefined;
  const { lookup, competing, listing, rules } = facts;
  const { verdict, reason } = conclude(call, change, facts);
  if (verdict === 'wait') return undefined;
  const lookedUpAt = (lookup ?? listing).requestedAt;
  if (verdict !== 'confirmed' && lookedUpAt.getTime() < quietUntil(call, rules)) return undefined;
  const evidence = evidenceOf(
    lookup ? [listing.readId, lookup.readId] : [],
    lookup?.transaction ? [lookup.transaction] : [],
    competing.map(({ id }) => id),
  );
  return { verdict, reason, evidence };
}

interface Conclusion {
  verdict: Verdict['verdict'] | 'wait';
  reason: string;
}

function conclude(call: SentCall, change: Change, facts: ChangeFacts): Conclusion {
  const { lookup, competing, listing } = facts;
  if (competing.some(({ state }) => state === 'executed')) {
    return notExecuted('Another call of ours changed this transaction, which is possible once.');
  }
  if (!lookup) {
    return ambiguous(
      'Our records do not contain the transaction that this call names, so the proxy cannot look it up.',
    );
  }
  const { transaction } = lookup;
  const isDone = transaction === null ? change === 'deleted' : transaction.meaning === change;
  if (isDone && listing.missing === 0) return concludeDone(call, change, facts, lookup);
  if (transaction !== null && UNTOUCHED[change](transaction)) {
    if (!call.isRejected && !isFresh(call, facts, lookup)) {
      return ambiguous(
        "The upstream's data may be older than this call. It lists no later call of the same kind yet.",
      );
    }
    return notExecuted(
      `The transaction that this call names was not ${change} at the end of the quiet period.`,
    );
  }
  return ambiguous("The upstream's data about the transaction does not show whether this call changed it.");
}

/**
 * Decides which call changed a transaction: the only one that the upstream did not reject, or the first one.
 * It does not matter which of several equal calls it was.
 */
function concludeDone(
  call: SentCall,
  change: Change,
  { competing, wasRejected }: ChangeFacts,
  { changedBefore }: Lookup,
): Conclusion {
  if (changedBefore) return notExecuted(`The transaction was ${change} before this call was sent.`);
  const rivals = competing.filter(({ operation }) => CHANGED_BY.get(operation) === change);
  if (rivals.length === 0) {
    return { verdict: 'confirmed', reason: `The transaction was ${change}, and by no other call of ours.` };
  }
  if (rivals.some(({ state }) => state === 'in_progress')) return { verdict: 'wait', reason: '' };
  const all = [{ ...call, wasRejected }, ...rivals].toSorted(
    (one, other) => one.sentFrom.getTime() - other.sentFrom.getTime() || (one.id < other.id ? -1 : 1),
  );
  const [maker, ...others] = all.filter((one) => !one.wasRejected);
  if (maker && others.some((other) => !isEqual(maker, other))) {
    return ambiguous('Another call of ours may have made this change. "calls" lists it.');
  }
  const first = maker ?? all[0];
  return first?.id === call.id
    ? {
        verdict: 'confirmed',
        reason: `The transaction was ${change}. Our other calls were rejected, or are equal and later.`,
      }
    : notExecuted(`An earlier call of ours, or one that was not rejected, ${change} the transaction.`);
}

/** Returns whether two calls make the same change for the same recipient. A deletion has no recipient. */
function isEqual(one: CompetingChange | SentCall, other: CompetingChange | SentCall): boolean {
  const contentOf = ({ items }: CompetingChange | SentCall) =>
    items.map(({ names, amountUsd }) => [names.toSorted(), amountUsd]);
  const isKnown =
    CHANGED_BY.get(one.operation) === 'deleted' || one.items.every(({ names }) => names.length > 0);
  return (
    isKnown &&
    one.operation === other.operation &&
    JSON.stringify(contentOf(one)) === JSON.stringify(contentOf(other))
  );
}

/** Returns whether the listing shows a later transaction of the kind that the call changes. */
function isFresh(call: SentCall, { listing, rules }: ChangeFacts, { createdBy }: Lookup): boolean {
  const kind = createdBy === null ? undefined : CREATED_BY.get(createdBy)?.name;
  return kind !== undefined && isListedSince(listing, quietUntil(call, rules), kind);
}

function notExecuted(reason: string): Conclusion {
  return { verdict: 'not_executed', reason };
}

function ambiguous(reason: string): Conclusion {
  return { verdict: 'ambiguous', reason };
}
