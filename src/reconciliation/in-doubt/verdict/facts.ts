import { VerdictEvidence, VerdictTransaction } from '../../../journal/settlement/settled-by-upstream';
import { CreationRules, CREATED_BY } from '../../../operations/items/effects';
import { quietMsOf } from '../../../operations/lifecycle/rejections';
import { asRecorded, proseAsRecorded, writtenNumbers } from '../../../platform/privacy/recorded';
import { RelatedTransaction, Rules, SentCall } from '../calls-in-doubt';
import { WalletStatements } from '../wallet-statements';

/** What the upstream's listing proves about the calls in doubt, besides the transactions of their payouts. */
export interface Listing {
  readId: string;
  /** Time at which the listing was requested. */
  requestedAt: Date;
  /** Number of known transactions that the listing lacks. Above 0, it is incomplete. */
  missing: number;
  /** Latest time at which the oldest listed transaction was made. Older ones may have been cut off. */
  oldest: Date | null;
  /** Whether the listing is empty, and the book has no transaction of the account. */
  isOfNewAccount: boolean;
  /**
   * For each kind of transaction, the time of our newest call whose transaction the listing shows with a
   * plausible time. For this kind, the listing is at least that recent. A kind without such a call is
   * missing. Later airtime proves nothing about mobile money, which the upstream may list later.
   */
  freshUntil: ReadonlyMap<string, Date>;
  /** The wallets, read after the listing. Undefined if no conclusion depends on them or reading failed. */
  wallets?: WalletStatements | undefined;
}

/** Kinds of transactions that debit a wallet. */
const PAID_KINDS = [...CREATED_BY.values()].flatMap(({ name, paidAtOnce }) => (paidAtOnce ? [name] : []));

/** The transaction of a payout in doubt whose status has no meaning, or that is of another payment. */
export interface UnclearTransaction extends RelatedTransaction {
  /** Whether the listing shows the transaction that the answer names as that of another payment. */
  isRefuted: boolean;
}

/** Facts that decide a verdict about the payouts in doubt of a call. */
export interface Facts {
  call: SentCall;
  created: CreationRules;
  listing: Listing;
  rules: Rules;
  /** Whether the listing was requested after the quiet period. Unlisted transactions then stay unlisted. */
  isQuiet: boolean;
  /** The transactions of payouts in doubt that are known and prove nothing, with their positions. */
  unclear: UnclearTransaction[];
  /** Transactions without a payout that may be of the call, such as another amount for its recipient. */
  related: RelatedTransaction[];
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

/** Collects the facts for a verdict. */
export function factsOf(
  call: SentCall,
  created: CreationRules,
  listing: Listing,
  { unclear, related }: Pick<Facts, 'unclear' | 'related'>,
  rules: Rules,
): Facts {
  const quietAt = quietUntil(call, rules);
  return {
    call,
    created,
    listing,
    rules,
    isQuiet: listing.requestedAt.getTime() >= quietAt,
    unclear,
    related,
    reachesBack: listing.oldest === null ? listing.isOfNewAccount : listing.oldest < call.sentFrom,
    isCurrent: isListedSince(listing, quietAt),
    isFresh: isListedSince(listing, quietAt, created.name),
    needsFreshness: !call.isRejected,
    walletsUntouched: showNoPayment(listing, call, rules),
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

/** Maximum number of transactions kept as evidence. */
const MOST_UNSETTLED = 100;

/** Builds the evidence of a verdict. The first hundred transactions are kept. */
export function evidenceOf(reads: string[], listed: RelatedTransaction[], calls: string[]): VerdictEvidence {
  return {
    reads,
    transactions: listed.slice(0, MOST_UNSETTLED).map(toEvidence),
    calls: calls.slice(0, MOST_UNSETTLED),
  };
}

function toEvidence(listed: RelatedTransaction & { names?: string[] }): VerdictTransaction {
  const { read_id, ordinal, position, at, amount_usd, names = [] } = listed;
  // An upstream may use the recipient's phone number as the ID of a payment.
  const numbers = writtenNumbers(names.filter((key) => key.startsWith('+')));
  return {
    read_id,
    ordinal,
    position,
    at,
    amount_usd,
    upstream_ref: asRecorded(listed.upstream_ref, numbers),
    upstream_id: asRecorded(listed.upstream_id, numbers),
    batch_ref: asRecorded(listed.batch_ref, numbers),
    status: proseAsRecorded(listed.status),
  };
}
