import { PayoutSums } from '../../../history/search/summary.dto';
import { Totals } from '../../matching/totals';
import { Markup, markup } from './markup';
import { count, instant, plural, signedUsd, usd } from './numbers';
import { DoubtRecord, WalletRecord } from '../../matching/totals.dto';

/** Describes what the period leaves in doubt, such as "1 call is in doubt and 2 transactions are pending". */
export function doubtsInWords({ in_doubt: doubt, pending, ambiguous }: Totals): string {
  const are = (many: number) => (many === 1 ? 'is' : 'are');
  const parts = [
    doubt.count > 0 && `${plural(doubt.count, 'payment')} ${are(doubt.count)} in doubt`,
    pending.count > 0 && `${plural(pending.count, 'transaction')} ${are(pending.count)} pending`,
    ambiguous.count > 0 && `${plural(ambiguous.count, 'transaction')} ${are(ambiguous.count)} ambiguous`,
  ];
  return parts.filter((part) => part !== false).join(', and ');
}

/** Shows which calls and transactions are in doubt. */
export function doubtsTable({ doubts, in_doubt: doubt, pending, ambiguous }: Totals): Markup | false {
  const more = doubt.count + pending.count + ambiguous.count - doubts.length;
  return (
    doubts.length > 0 &&
    markup`<section class="category" aria-labelledby="doubts">
    <header><h2 id="doubts">In doubt</h2><p class="meaning">These calls and transactions may still change. Run the period again once they are settled.</p></header>
    ${table('What is in doubt, the oldest first', ['When, UTC', 'Doubt', 'Call', 'Upstream reference', 'Status', 'Amount, USD'], doubts.map(doubtCells))}
    ${more > 0 && markup`<p class="more">${count(more)} more.</p>`}
  </section>`
  );
}

function doubtCells({ kind, call_id: call, upstream_ref: ref, status, at, usd: amount }: DoubtRecord): string[] {
  return [
    at ? instant(new Date(at)) : '',
    kind,
    call ?? '',
    ref ?? '',
    status ?? '',
    amount === null ? '' : usd(amount),
  ];
}

/** Shows the sums of the payouts that were requested in the period. */
export function payoutsTable(sums: PayoutSums): Markup {
  const columns: [keyof PayoutSums, string][] = [
    ['asked_usd', 'Requested'],
    ['paid_usd', 'Paid'],
    ['pending_usd', 'Pending'],
    ['returned_usd', 'Returned'],
    ['not_executed_usd', 'Not executed'],
    ['fees_usd', 'Fees'],
  ];
  const titles = columns.map(([, title]) => title);
  const amounts = columns.map(([name]) => usd(sums[name]));
  return markup`<section class="category" aria-labelledby="payouts">
    <header><h2 id="payouts">Our payouts</h2><p class="meaning">Payouts that were requested in the period, as they are now. Each amount is paid, pending, returned or not executed. Fees come on top.</p></header>
    ${table('Sums of our payouts, USD', titles, [amounts])}
  </section>`;
}

/** Shows how each wallet came from its opening balance to its closing balance. */
export function walletsTable({ wallets }: Totals): Markup | false {
  return (
    wallets.length > 0 &&
    markup`<section class="category" aria-labelledby="wallets">
    <header><h2 id="wallets">Wallets</h2><p class="meaning">The opening balance, the flows and the gap add up to the closing balance.</p></header>
    ${table('Flows of each wallet', ['Wallet', 'Opening', 'Flows', 'Gap', 'Closing'], wallets.map(walletCells))}
  </section>`
  );
}

function walletCells({ wallet_id: id, type, opening_usd, closing_usd, flows, gap_usd, shown_since }: WalletRecord) {
  const each = Object.entries(flows).map(([flow, sum]) => `${flow} ${signedUsd(sum.usd)} (${count(sum.count)})`);
  const since = shown_since ? `, shown since ${instant(new Date(shown_since))}` : '';
  return [
    `${type ?? 'wallet'} ${id}${since}`,
    opening_usd === null ? 'none' : usd(opening_usd),
    each.length > 0 ? each.join(', ') : 'none',
    signedUsd(gap_usd),
    closing_usd === null ? 'none' : usd(closing_usd),
  ];
}

function table(caption: string, titles: string[], rows: string[][]): Markup {
  return markup`<table>
    <caption>${caption}</caption>
    <thead><tr>${titles.map((title) => markup`<th scope="col">${title}</th>`)}</tr></thead>
    ${rows.map((cells) => markup`<tbody><tr>${cells.map((cell) => markup`<td class="side">${cell}</td>`)}</tr></tbody>`)}
  </table>`;
}
