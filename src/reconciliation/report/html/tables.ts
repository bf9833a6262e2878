import { PayoutSums } from '../../../history/search/summary.dto';
import { CATEGORIES, Category, Severity } from '../../findings/categories';
import { FindingField, FindingRecord } from '../../findings/findings.dto';
import { TotalsRecord, SumRecord } from '../../matching/totals.dto';
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

/** The columns of findings: titles with classes. */
const COLUMNS: TableColumn[] = [
  ['When, UTC', 'c-when'],
  ['Payment', 'c-what'],
  ['Field', 'c-field'],
  ['Ours', 'c-side'],
  ['Theirs', 'c-side'],
  ['Difference, USD', 'c-usd number'],
  ['State', 'c-state'],
];

/**
 * Formats the findings of one category.
 * @param sum number and impact of all findings of the category.
 */
export function findingsSection(category: Category, findings: FindingRecord[], sum: SumRecord): Markup {
  const { severity, title, meaning, action } = CATEGORIES[category];
  const decimals = decimalsOf(findings.map((finding) => finding.impact_usd));
  const more = sum.count - findings.length;
  const rows = findings.map((finding) => rowsOf(finding, decimals));
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
    ${table(`${title}: ${plural(findings.length, 'finding')}, largest first`, COLUMNS, rows)}
    ${more > 0 && markup`<p class="more">${count(more)} more: see the CSV (<code>format=csv</code>).</p>`}
  </section> `;
}

/** Formats a finding. Its rows are a table body, which a page break never splits. */
function rowsOf(finding: FindingRecord, decimals: number): Markup {
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
  const { call_id: call, position, upstream_ref: ref, upstream_id: id } = finding;
  const names: [string, string | null][] = [
    ['call', call === null || position === null ? call : `${call} / ${position}`],
    ['upstream reference', ref],
    ['upstream id', ref === null ? id : null],
    ['batch', (ref ?? id) === null ? finding.batch_ref : null],
    ['wallet', finding.wallet_id],
  ];
  const known = names.filter(([, value]) => value !== null);
  const shown = known.length > 0 ? known : [['subject', finding.subject] as const];
  return markup`<dl>
    ${shown.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
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
  if (doubts.length === 0) return false;
  const more = doubt.count + pending.count + ambiguous.count - doubts.length;
  return section({
    id: 'doubts',
    title: 'In doubt',
    meaning: 'These calls and transactions may still change. Run the period again once they are settled.',
    caption: 'Calls and transactions in doubt, oldest first',
    titles: ['When, UTC', 'Doubt', 'Call', 'Upstream reference', 'Status', 'Amount, USD'],
    rows: doubts.map(({ kind, call_id: call, upstream_ref: ref, status, at, usd: amount }) => [
      at && instant(new Date(at)),
      kind,
      call,
      ref,
      status,
      amount && usd(amount),
    ]),
    note: more > 0 && markup`<p class="more">${count(more)} more.</p>`,
  });
}

/** Shows the sums of the payouts requested in the period. */
export function payoutsTable(sums: PayoutSums): Markup {
  return section({
    id: 'payouts',
    title: 'Our payouts',
    meaning:
      'Payouts that were requested in the period, as they are now. Each amount is paid, pending, returned ' +
      'or not executed. Fees come on top.',
    caption: 'Sums of our payouts, USD',
    titles: ['Requested', 'Paid', 'Pending', 'Returned', 'Not executed', 'Fees'],
    rows: [
      [
        sums.asked_usd,
        sums.paid_usd,
        sums.pending_usd,
        sums.returned_usd,
        sums.not_executed_usd,
        sums.fees_usd,
      ].map((amount) => usd(amount)),
    ],
  });
}

/** Shows each wallet's opening balance, flows and closing balance. */
export function walletsTable({ wallets }: TotalsRecord): Markup | false {
  if (wallets.length === 0) return false;
  return section({
    id: 'wallets',
    title: 'Wallets',
    meaning: 'The opening balance, the flows and the gap add up to the closing balance.',
    caption: 'Flows of each wallet',
    titles: ['Wallet', 'Opening', 'Flows', 'Gap', 'Closing'],
    rows: wallets.map((wallet) => {
      const { type, opening_usd: opening, closing_usd: closing, shown_since: since } = wallet;
      const flows = Object.entries(wallet.flows).map(
        ([flow, sum]) => `${flow} ${signedUsd(sum.usd)} (${count(sum.count)})`,
      );
      return [
        `${type ?? 'wallet'} ${wallet.wallet_id}${since ? `, shown since ${instant(new Date(since))}` : ''}`,
        opening === null ? 'none' : usd(opening),
        flows.join(', ') || 'none',
        signedUsd(wallet.gap_usd),
        closing === null ? 'none' : usd(closing),
      ];
    }),
  });
}

/** A table with its title. */
interface TableSection {
  id: string;
  title: string;
  meaning: string;
  caption: string;
  titles: string[];
  rows: (string | null)[][];
  note?: Markup | false;
}

function section({ id, title, meaning, caption, titles, rows, note }: TableSection): Markup {
  const row = (cells: (string | null)[]) => cells.map((cell) => markup`<td class="side">${cell}</td>`);
  const columns = titles.map((name): TableColumn => [name, '']);
  const bodies = rows.map((cells) => markup`<tbody><tr>${row(cells)}</tr></tbody>`);
  return markup`<section class="category" aria-labelledby="${id}">
    <header><h2 id="${id}">${title}</h2><p class="meaning">${meaning}</p></header>
    ${table(caption, columns, bodies)}${note}
  </section>`;
}

type TableColumn = [title: string, look: string];

function table(caption: string, columns: TableColumn[], bodies: Markup[]): Markup {
  const heads = columns.map(([title, look]) => markup`<th scope="col" class="${look}">${title}</th>`);
  return markup`<table><caption>${caption}</caption><thead><tr>${heads}</tr></thead>${bodies}</table>`;
}
