import { Decimal } from 'decimal.js';
import { HistoryLimits, Payment, RecipientDays } from './recipient-days';

/** Why a call needs an approval. */
export const HELD_FOR = [
  'over_threshold',
  'over_recipient_threshold',
  'over_daily_threshold',
  'seen_before',
  'seen_across_clients',
  'unexplained_payment',
  'new_beneficiary',
  'screening_review',
] as const;

export type HeldFor = (typeof HELD_FOR)[number];

/**
 * Why a call needs an approval. `seen_before` names the latest earlier call, and `unexplained_payment` the transaction that may
 * have paid it already.
 */
export interface Hold {
  heldFor: HeldFor;
  earlierCallId?: string;
  transaction?: string;
}

/** The limits of a client, and its sums of today. */
interface Paid extends HistoryLimits {
  spentTodayUsd: Decimal;
  heldUsd: Decimal;
}

/**
 * Returns why a request is held whatever its client paid before. Whoever approves must know of a lost payment and of a new
 * recipient, so these come first.
 * @param transaction a payment of a lost time that it may repeat.
 * @param isNew whether one of its recipients was registered a short time ago.
 */
export function holdByItself(
  { heldFor }: { heldFor: HeldFor | null },
  transaction: string | undefined,
  isNew: boolean,
): Hold | null {
  if (transaction !== undefined) return { heldFor: 'unexplained_payment', transaction };
  if (isNew) return { heldFor: 'new_beneficiary' };
  return heldFor && { heldFor };
}

/** Returns why the earlier payments of its client hold a request. */
export function holdByHistory(
  { payments, usd }: { payments: Payment[] | null; usd: Decimal | null },
  recipients: RecipientDays,
  budget: Paid | undefined,
): Hold | null {
  if (!budget || payments === null || usd === null) return null;
  const { approvalOverRecipientDayUsd, approvalOverDayUsd, spentTodayUsd, heldUsd } = budget;
  if (recipients.over(payments, approvalOverRecipientDayUsd).length > 0) return { heldFor: 'over_recipient_threshold' };
  if (approvalOverDayUsd && spentTodayUsd.plus(heldUsd).plus(usd).gt(approvalOverDayUsd)) {
    return { heldFor: 'over_daily_threshold' };
  }
  const earlierCallId = budget.holdDuplicatesDays === null ? undefined : recipients.earlierCall(payments);
  return earlierCallId === undefined ? null : { heldFor: 'seen_before', earlierCallId };
}
