import { PayoutSums } from '../../../history/search/summary.dto';
import { CATEGORIES, Category, Severity } from '../../findings/categories';
import { FindingField, FindingRecord } from '../../findings/findings.dto';
import { TotalsRecord, SumRecord, DoubtRecord, WalletRecord } from '../../matching/totals.dto';
import { Markup, markup } from './markup';
import { count, decimalsOf, instant, plural, signedUsd, usd } from './numbers';

/** Marks of severities. They differ by shape and word, not only by colour. */
const SHAPES: Record<Severity, Markup> = {
  critical: markup`<path d="M8 0.5 15.5 8 8 15.5 0.5 8Z" />`,
  high: markup`<path d="M8 1.5 15.5 14.5H0.5Z" />`,
  medium: markup`<circle cx="8" cy="8" r="6" />`,
  low: markup`<circle cx="8" cy="8" r="5" class="hollow" />`,
};

function severityMark(severity: Severity): Markup {
  return markup`<span class="severity ${severity}"
    ><svg viewBox="0 0 16 16" aria-hidden="true">${SHAPES[severity]}</svg>${severity}</span
  >`;
}

/**
 * Formats the findings of one category.
 * @param sum number and impact of all findings of the category.
 */
export function findingsSection(category: Category, findings: FindingRecord[], sum: SumRecord): Markup {
  const { severity, title, meaning, action } = CATEGORIES[category];
  const decimals = decimalsOf(findings.map((finding) => finding.impact_usd));
  const more = sum.count - findings.length;
  return markup`<section class="category" aria-labelledby="c-${category}">
    <header>
      <h3 id="c-${category}">${severityMark(severity)} ${title}</h3>
      <p class="sum">
        <code>${category}</code> ${plural(sum.count, 'finding')}
        <span class="amount">${signedUsd(sum.usd)} USD</span>
      </p>
      <p class="meaning">${meaning}</p>
      <p class="advice"><b>What to do.</b> ${action}</p>
    </header>
    <table>
      <caption>
        ${title}: ${plural(findings.length, 'finding')}, largest first
      </caption>
      <colgroup>
        <col class="c-when" />
        <col class="c-what" />
        <col class="c-field" />
        <col class="c-side" />
        <col class="c-side" />
        <col class="c-usd" />
        <col class="c-state" />
      </colgroup>
      <thead>
        <tr>
          <th scope="col">When, UTC</th>
          <th scope="col">Payment</th>
          <th scope="col">Field</th>
          <th scope="col">Ours</th>
          <th scope="col">Theirs</th>
          <th scope="col" class="number">Difference, USD</th>
          <th scope="col">State</th>
        </tr>
      </thead>
      ${findings.map((finding) => rows(finding, decimals))}
    </table>
    ${more > 0 && markup`<p class="more">${count(more)} more: see the CSV (<code>format=csv</code>).</p>`}
  </section> `;
}

/** Formats findings, each in its own table body, which a page break never splits. */
function rows(finding: FindingRecord, decimals: number): Markup {
  const fields: (FindingField | null)[] = finding.fields.length > 0 ? finding.fields : [null];
  const span = fields.length;
  const first = markup`<td rowspan="${span}" class="when">${instant(finding.occurred_at)}</td>
    <td rowspan="${span}" class="payment">${payment(finding)}</td>`;
  const last = markup`<td rowspan="${span}" class="number">${signedUsd(finding.impact_usd, decimals)}</td>
    <td rowspan="${span}">${stateOf(finding)}</td>`;
  return markup`<tbody>
    ${fields.map(
      (field, place) =>
        markup`<tr>
          ${place === 0 && first}${fieldCells(field)}${place === 0 && last}
        </tr>`,
    )}
  </tbody> `;
}

function fieldCells(field: FindingField | null): Markup {
  const side = (value: string | null) => value ?? markup`<span class="none">none</span>`;
  if (field === null) return markup`<td colspan="3"><span class="none">none</span></td>`;
  return markup`<td><code>${field.field}</code></td>
    <td class="side">${side(field.ours)}</td>
    <td class="side">${side(field.theirs)}</td>`;
}

function payment(finding: FindingRecord): Markup {
  const {
    call_id: call,
    position,
    upstream_ref: upstreamRef,
    upstream_id: id,
    batch_ref: batch,
    wallet_id: wallet,
  } = finding;
  const line = (name: string, value: string | null) =>
    value !== null &&
    markup`<div>
      <dt>${name}</dt>
      <dd>${value}</dd>
    </div>`;
  const named = [
    line('call', call === null ? null : `${call}${position === null ? '' : ` / ${position}`}`),
    line('upstream reference', upstreamRef),
    upstreamRef === null && line('upstream id', id),
    upstreamRef === null && id === null && line('batch', batch),
    line('wallet', wallet),
  ].filter((each): each is Markup => each !== false);
  return markup`<dl>${named.length > 0 ? named : line('subject', finding.subject)}</dl>`;
}

function stateOf({ state, age_days: days, last_step: step }: FindingRecord): Markup {
  const waits =
    days !== null &&
    markup` <span class="waits">${days === 0 ? 'since today' : `for ${plural(days, 'day')}`}</span>`;
  const reason = step && markup`<div class="why">${step.reason}</div>`;
  return markup`<b class="state">${state}</b>${waits}${reason}`;
}

/** Describes the doubts of the period, such as "1 call is in doubt and 2 transactions are pending". */
export function doubtsInWords({ in_doubt: doubt, pending, ambiguous }: TotalsRecord): string {
  const are = (many: number) => (many === 1 ? 'is' : 'are');
  const parts = [
    doubt.count > 0 && `${plural(doubt.count, 'payment')} ${are(doubt.count)} in doubt`,
    pending.count > 0 && `${plural(pending.count, 'transaction')} ${are(pending.count)} pending`,
    ambiguous.count > 0 && `${plural(ambiguous.count, 'transaction')} ${are(ambiguous.count)} ambiguous`,
  ];
  return parts.filter((part) => part !== false).join(', and ');
}

/** Shows the calls and transactions in doubt. */
export function doubtsTable({ doubts, in_doubt: doubt, pending, ambiguous }: TotalsRecord): Markup | false {
  const more = doubt.count + pending.count + ambiguous.count - doubts.length;
  const titles = ['When, UTC', 'Doubt', 'Call', 'Upstream reference', 'Status', 'Amount, USD'];
  return (
    doubts.length > 0 &&
    markup`<section class="category" aria-labelledby="doubts">
    <header>
      <h2 id="doubts">In doubt</h2>
      <p class="meaning">
        These calls and transactions may still change. Run the period again once they are settled.
      </p>
    </header>
    ${table('Calls and transactions in doubt, oldest first', titles, doubts.map(doubtCells))}
    ${more > 0 && markup`<p class="more">${count(more)} more.</p>`}
  </section>`
  );
}

function doubtCells({
  kind,
  call_id: call,
  upstream_ref: ref,
  status,
  at,
  usd: amount,
}: DoubtRecord): string[] {
  return [
    at ? instant(new Date(at)) : '',
    kind,
    call ?? '',
    ref ?? '',
    status ?? '',
    amount === null ? '' : usd(amount),
  ];
}

/** Shows the sums of the payouts requested in the period. */
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
    <header>
      <h2 id="payouts">Our payouts</h2>
      <p class="meaning">
        Payouts that were requested in the period, as they are now. Each amount is paid, pending, returned or
        not executed. Fees come on top.
      </p>
    </header>
    ${table('Sums of our payouts, USD', titles, [amounts])}
  </section>`;
}

/** Shows each wallet's opening balance, flows and closing balance. */
export function walletsTable({ wallets }: TotalsRecord): Markup | false {
  const titles = ['Wallet', 'Opening', 'Flows', 'Gap', 'Closing'];
  return (
    wallets.length > 0 &&
    markup`<section class="category" aria-labelledby="wallets">
    <header>
      <h2 id="wallets">Wallets</h2>
      <p class="meaning">The opening balance, the flows and the gap add up to the closing balance.</p>
    </header>
    ${table('Flows of each wallet', titles, wallets.map(walletCells))}
  </section>`
  );
}

function walletCells({
  wallet_id: id,
  type,
  opening_usd,
  closing_usd,
  flows,
  gap_usd,
  shown_since,
}: WalletRecord) {
  const each = Object.entries(flows).map(
    ([flow, sum]) => `${flow} ${signedUsd(sum.usd)} (${count(sum.count)})`,
  );
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
  const row = (cells: string[]) => cells.map((cell) => markup`<td class="side">${cell}</td>`);
  return markup`<table>
    <caption>${caption}</caption>
    <thead><tr>${titles.map((title) => markup`<th scope="col">${title}</th>`)}</tr></thead>
    ${rows.map((cells) => markup`<tbody><tr>${row(cells)}</tr></tbody>`)}
  </table>`;
}
