import type { ApprovalRecord, RecordItem } from '../../api/generated/schema';
import { clientWords, formatCount, formatUsd } from '../../components/values/format';

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
