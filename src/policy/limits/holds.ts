import { Decimal } from 'decimal.js';
import { HistoryLimits, Payment, RecipientDays } from './recipient-days';

/** Reasons for an approval. */
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
 * The reason for an approval. `seen_before` names the latest earlier call, and `unexplained_payment` the
 * transaction that may have paid it.
 */
export interface Hold {
  heldFor: HeldFor;
  earlierCallId?: string;
  transaction?: string;
}

/** The limits of a client, and its totals of today. */
interface ClientTotals extends HistoryLimits {
  spentTodayUsd: Decimal;
  heldUsd: Decimal;
}

/**
 * Returns the reason to hold a request, independently of earlier payments. A lost payment and a new recipient
 * come first, because the approver must know of them.
 * @param transaction a payment of a recovery gap that it may repeat.
 * @param isNew whether one of its recipients was registered recently.
 */
export function holdForAmount(
  { heldFor }: { heldFor: HeldFor | null },
  transaction: string | undefined,
  isNew: boolean,
): Hold | null {
  if (transaction !== undefined) return { heldFor: 'unexplained_payment', transaction };
  if (isNew) return { heldFor: 'new_beneficiary' };
  return heldFor && { heldFor };
}

/** Returns the reason to hold a request by its client's earlier payments. */
export function holdForHistory(
  { payments, usd }: { payments: Payment[] | null; usd: Decimal | null },
  recipients: RecipientDays,
  budget: ClientTotals | undefined,
): Hold | null {
  if (!budget || payments === null || usd === null) return null;
  const { approvalOverRecipientDayUsd, approvalOverDayUsd, spentTodayUsd, heldUsd } = budget;
  if (recipients.over(payments, approvalOverRecipientDayUsd).length > 0)
    return { heldFor: 'over_recipient_threshold' };
  if (approvalOverDayUsd && spentTodayUsd.plus(heldUsd).plus(usd).gt(approvalOverDayUsd)) {
    return { heldFor: 'over_daily_threshold' };
  }
  const earlierCallId = budget.holdDuplicatesDays === null ? undefined : recipients.earlierCall(payments);
  return earlierCallId === undefined ? null : { heldFor: 'seen_before', earlierCallId };
}
