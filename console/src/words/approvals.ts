import type { approvalStatusValues } from '../api/generated/schema';
import { inWords } from '../components/values/format';

type Status = (typeof approvalStatusValues)[number];

export const STATUS_WORDS: Record<Status, string> = {
  pending: 'Pending',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Expired',
};

/** Texts of empty lists. */
export const EMPTY_WORDS: Record<Status, string> = {
  pending: 'No calls are pending approval. New ones appear here automatically.',
  approved: 'No calls have been approved yet.',
  rejected: 'No calls have been rejected yet.',
  expired: 'No calls have expired. Every call was decided in time.',
};

/** Reasons for holding a call. */
const HELD_FOR: Record<string, string> = {
  over_threshold: "The call exceeds the client's approval threshold.",
  over_recipient_threshold:
    "A recipient would get more in a day than the client's approval threshold per recipient.",
  over_daily_threshold: 'The client would pay more in a day than its approval threshold per day.',
  seen_before:
    'The client has requested the same amount for the same recipient before. This call may be a duplicate.',
  seen_across_clients:
    'Another client requested the same payment a short time ago. This call may be a duplicate.',
  unexplained_payment:
    'The upstream has already paid this amount to this recipient, in a period whose records were lost.',
  screening_review: 'The screening service asked for a review of the recipients by a person.',
  new_beneficiary: 'A recipient was registered a short time ago.',
};

/** Checks before the approval of a held call. */
const CHECKS: Record<string, string> = {
  unexplained_payment: 'Check that transaction before you approve.',
  new_beneficiary: 'Check that it is the right one before you approve.',
};

/** Returns the reason for holding a call. */
export const heldForWords = (heldFor: string) => HELD_FOR[heldFor] ?? inWords(heldFor);

/** Returns the reason for holding a call, and what an approver must check. */
export const approverWords = (heldFor: string) =>
  [heldForWords(heldFor), CHECKS[heldFor]].filter(Boolean).join(' ');
