import type { ApprovalRecord, RecordItem } from '../../api/generated/schema';
import { clientWords, formatCount, formatUsd, inWords } from '../../components/values/format';

const HELD_FOR: Partial<Record<string, string>> = {
  over_threshold: "The call exceeds the client's approval threshold.",
  over_recipient_threshold:
    "A recipient would get more in a day than the client's approval threshold per recipient.",
  over_daily_threshold: 'The client would pay more in a day than its approval threshold per day.',
  seen_before:
    'The client has requested the same amount for the same recipient before. This call may be a duplicate.',
  seen_across_clients:
    'Another client requested the same payment a moment ago. This call may be a duplicate.',
  unexplained_payment:
    'The upstream has already paid this amount to this recipient, in a time whose records were lost. ' +
    'Check that transaction before you approve.',
  screening_review: 'The screening service asks a person to review the recipients.',
  new_beneficiary:
    'A recipient was registered a short time ago. Check that it is the right one before you approve.',
};

/** Returns why a call waits. */
export const whyHeld = (heldFor: string) => HELD_FOR[heldFor] ?? inWords(heldFor);

/** Describes a call in one line: `POST /payouts/airtime of shop: 2 payouts, $12.50`. */
export function summaryOf({
  operation,
  account,
  client,
  item_count: items,
  total_usd: usd,
}: ApprovalRecord): string {
  const amount = usd === null ? 'no amount in US dollars' : formatUsd(usd);
  return `${operation} of ${clientWords(client, account)}: ${countOf(items)}, ${amount}`;
}

export const countOf = (items: number) => `${formatCount(items)} ${items === 1 ? 'payout' : 'payouts'}`;

/** Returns the recipient as the record shows it, masked. */
export function recipientOf({
  recipient: { phone, email, handle, receiver },
  wallet,
}: RecordItem): string | null {
  return phone ?? email ?? handle ?? receiver ?? wallet;
}
