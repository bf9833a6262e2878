import { Decimal } from 'decimal.js';
import { VerdictEvidence, VerdictTransaction } from '../../../journal/settlement/settled-by-upstream';
import { isIdOf } from '../../../operations/catalogue/payout-id';
import { CreationRules, CREATED_BY } from '../../../operations/items/effects';
import { quietMsOf } from '../../../operations/lifecycle/rejections';
import { asRecorded, proseAsRecorded, writtenNumbers } from '../../../platform/privacy/recorded';
import { Batch, Rules, ListedTransaction, SentCall } from '../calls-in-doubt';
import { Work } from '../work';
import { distinctItems, fit, BatchMatch, relationOf } from './batch-match';
import { Batches, Listing } from './batches';
import { CompetingCalls } from './competing-calls';

/** Kinds of transactions that debit a wallet. */
const PAID_KINDS = [...CREATED_BY.values()].flatMap(({ name, paidAtOnce }) => (paidAtOnce ? [name] : []));

/** Facts that decide a verdict about a call in doubt. */
export interface Facts {
  call: SentCall;
  created: CreationRules;
  listing: Listing;
  rules: Rules;
  /** Whether the listing was requested after the quiet period. Unlisted transactions then stay unlisted. */
  isQuiet: boolean;
  /** The batches that could be all or part of the call, as far as they can change the verdict. */
  candidates: BatchMatch[];
  /** Our other calls that could have created a candidate, or that it could be a part of. */
  others: SentCall[];
  /** Other listed batches that may be of the call, such as another amount for its recipient. */
  related: Batch[];
  /** Whether the listing reaches back before the call. Otherwise it may have been cut off. */
  reachesBack: boolean;
  /** Whether the listing shows a later call of ours, of any kind. It is then newer than the call. */
  isCurrent: boolean;
  /** Whether the listing shows a later payment of the same kind. It is then current for this kind. */
  isFresh: boolean;
  /** Whether later calls must show that the listing is current. After a plain rejection, none need to. */
  needsFreshness: boolean;
  /** Whether the wallets prove that nothing was paid from them since before the call. */
  walletsUntouched: boolean;
}

/** Collects the facts for a verdict. Searches for related transactions only where they matter. */
export function* factsOf(
  call: SentCall,
  created: CreationRules,
  listing: Listing,
  competing: CompetingCalls,
  rules: Rules,
): Work<Facts> {
  const isQuiet = listing.requestedAt.getTime() >= quietUntil(call, rules);
  const candidates = yield* candidatesFor(call, created, listing, rules);
  const others = yield* othersOf(call, candidates, competing);
  const [only] = candidates;
  const isWhole = candidates.length === 1 && only?.batch.length === call.items.length && others.length === 0;
  const related = isWhole || !isQuiet ? [] : yield* relatedBatches(call, created, listing, competing);
  const reachesBack = listing.oldest !== null && listing.oldest < call.sentFrom;
  const isCurrent = isListedSince(listing, quietUntil(call, rules));
  const isFresh = isListedSince(listing, quietUntil(call, rules), created.name);
  const walletsUntouched = showNoPayment(listing, call, rules);
  return {
    call,
    created,
    listing,
    rules,
    isQuiet,
    candidates,
    others,
    related,
    reachesBack,
    isCurrent,
    isFresh,
    needsFreshness: !call.isRejected,
    walletsUntouched,
  };
}

/** Returns when the quiet period of a call ends, in milliseconds since 1970. */
export function quietUntil(call: SentCall, rules: Rules): number {
  return call.sentUntil.getTime() + quietMsOf(call.isRejected, rules);
}

/**
 * Returns when the wallets may replace a later payment of the same kind, in milliseconds since 1970. They
 * count only after the full quiet period, because nothing shows how current they are.
 */
export function walletsCountFrom({ sentUntil }: SentCall, { quietMs }: Rules): number {
  return sentUntil.getTime() + quietMs;
}

/**
 * Returns whether a listing shows a call of ours that was sent at a time or later.
 * @param kind counts only calls that create this kind of transaction. Undefined counts all.
 */
export function isListedSince({ freshUntil }: Listing, since: number, kind?: string): boolean {
  const times = kind === undefined ? [...freshUntil.values()] : [freshUntil.get(kind)];
  return times.some((time) => time !== undefined && time.getTime() >= since);
}

/** Returns whether the conclusion about a call depends on the wallets. */
export function dependsOnWallets(call: SentCall, listing: Listing, rules: Rules): boolean {
  const created = CREATED_BY.get(call.operation);
  // Only payments from a wallet at once debit it.
  if (
    call.isRejected ||
    !created?.paidAtOnce ||
    isListedSince(listing, quietUntil(call, rules), created.name)
  )
    return false;
  const from = walletsCountFrom(call, rules);
  return listing.requestedAt.getTime() >= from && isListedSince(listing, from);
}

/**
 * Returns whether the wallets prove that nothing was paid. Wallets without our later payments are older than
 * the call, and prove nothing.
 */
function showNoPayment(listing: Listing, call: SentCall, rules: Rules): boolean {
  const { wallets } = listing;
  if (!wallets || !dependsOnWallets(call, listing, rules)) return false;
  const since = new Date(call.sentFrom.getTime() - rules.skewMs);
  const wasPaid = PAID_KINDS.some((kind) => isListedSince(listing, call.sentUntil.getTime(), kind));
  return wallets.showNoDebitSince(since, call.operation) && (!wasPaid || wallets.showDebitSince(since));
}

function* candidatesFor(
  call: SentCall,
  created: CreationRules,
  listing: Listing,
  rules: Rules,
): Work<BatchMatch[]> {
  const found: BatchMatch[] = [];
  yield call.items.length;
  for (const batch of listing.unclaimed.like(call, created, rules)) {
    const fitting = yield* fit(call, created, batch, rules);
    if (fitting) found.push(fitting);
    if (found.length > MOST_UNSETTLED) break;
  }
  const proven = found.filter(({ batch }) => batch.some(({ namedCallId }) => namedCallId === call.id));
  return proven.length > 0 || mustShowId(call, listing.unclaimed) ? proven : found;
}

/** Returns whether the transactions of a call must show its ID. Equal ones without it may be a stranger's. */
function mustShowId({ id, operation, items }: SentCall, { showsIdsOf }: Batches): boolean {
  return showsIdsOf.has(operation) && items.every(({ reference }) => isIdOf(id, reference));
}

function* othersOf(call: SentCall, candidates: BatchMatch[], competing: CompetingCalls): Work<SentCall[]> {
  const others = new Set<SentCall>();
  for (const { batch } of candidates) {
    const calls = yield* competing.callsOf(batch);
    for (const one of calls) if (one.id !== call.id) others.add(one);
    yield calls.length;
    if (others.size >= MOST_UNSETTLED) break;
  }
  return [...others];
}

/** Finds the first batches that may be of a call. */
function* relatedBatches(
  call: SentCall,
  created: CreationRules,
  listing: Listing,
  competing: CompetingCalls,
): Work<Batch[]> {
  const { related } = listing.unclaimed;
  const items = distinctItems(call);
  const found = new FirstBatches();
  for (const item of items) {
    yield 1;
    for (const batches of related.ofItem(item, created)) {
      yield* found.add(batches, (listed) => relationOf(item, listed, created) === 'some');
      if (found.areEnough) return found.all;
    }
  }
  for (const item of items) {
    yield 1;
    for (const batches of related.ofRecipient(item, created)) {
      // Other amounts that another call of ours explains completely are unrelated to this one.
      const unexplained = yield* competing.unexplained(batches);
      yield* found.add(unexplained, (listed) => relationOf(item, listed, created) !== 'none');
      if (found.areEnough) return found.all;
    }
  }
  return found.all;
}

/** Collects batches up to the number of transactions that a verdict names. */
class FirstBatches {
  private readonly found = new Set<Batch>();
  private transactions = 0;

  get all(): Batch[] {
    return [...this.found];
  }

  get areEnough(): boolean {
    return this.transactions >= MOST_UNSETTLED;
  }

  /** Adds the batches with a transaction of this kind. */
  *add(batches: readonly Batch[], matches: (listed: ListedTransaction) => boolean): Work<void> {
    for (const batch of batches) {
      if (this.areEnough) return;
      yield this.found.has(batch) ? 1 : batch.length;
      if (this.found.has(batch) || !batch.some(matches)) continue;
      this.found.add(batch);
      this.transactions += batch.length;
    }
  }
}

/** Maximum number of transactions kept as evidence if they do not settle a call. */
export const MOST_UNSETTLED = 100;

/**
 * Builds the evidence of a verdict.
 * @param positions item of each transaction. Undefined if uncertain: only the first hundred are kept.
 */
export function evidenceOf(
  reads: string[],
  listed: ListedTransaction[],
  calls: string[],
  positions?: number[],
): VerdictEvidence {
  const kept = positions ? listed : listed.slice(0, MOST_UNSETTLED);
  return {
    reads,
    transactions: kept.map((transaction, index) => toEvidence(transaction, positions?.[index] ?? null)),
    calls: calls.slice(0, MOST_UNSETTLED),
  };
}

function toEvidence(listed: ListedTransaction, position: number | null): VerdictTransaction {
  // An upstream may use the recipient's phone number as the ID of a payment.
  const phones = listed.names.filter((key) => key.startsWith('+'));
  const numbers = writtenNumbers(phones);
  return {
    read_id: listed.readId,
    ordinal: listed.ordinal,
    position,
    upstream_ref: asRecorded(listed.upstreamRef, numbers),
    upstream_id: asRecorded(listed.upstreamId, numbers),
    batch_ref: asRecorded(listed.batchRef, numbers),
    at: listed.issuedAt?.toISOString() ?? null,
    status: proseAsRecorded(listed.status),
    amount_usd: listed.amountUsd === null ? null : new Decimal(listed.amountUsd).toFixed(),
  };
}
