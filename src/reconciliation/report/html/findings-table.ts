import { CATEGORIES, Category, Severity } from '../../findings/categories';
import { FindingField, FindingRecord } from '../../findings/findings.dto';
import { Markup, markup } from './markup';
import { count, decimalsOf, instant, plural, signedUsd } from './numbers';
import { SumRecord } from '../../matching/totals.dto';

/** The marks of severities. They differ by shape and by word, not by colour alone. */
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
 * Writes the findings of one category.
 * @param sum the number and the impact of all of them.
 */
export function findingsSection(category: Category, findings: FindingRecord[], sum: SumRecord): Markup {
  const { severity, title, meaning, action } = CATEGORIES[category];
  const decimals = decimalsOf(findings.map((finding) => finding.impact_usd));
  const more = sum.count - findings.length;
  return markup`<section class="category" aria-labelledby="c-${category}">
    <header>
      <h3 id="c-${category}">${severityMark(severity)} ${title}</h3>
      <p class="sum">
        <code>${category}</code> ${plural(sum.count, 'finding')} <span class="amount">${signedUsd(sum.usd)} USD</span>
      </p>
      <p class="meaning">${meaning}</p>
      <p class="advice"><b>What to do.</b> ${action}</p>
    </header>
    <table>
      <caption>
        ${title}: ${plural(findings.length, 'finding')}, the greatest first
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

/** Each finding has its own table body, so that a page break never splits it. */
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
    days !== null && markup` <span class="waits">${days === 0 ? 'since today' : `for ${plural(days, 'day')}`}</span>`;
  return markup`<b class="state">${state}</b>${waits}${step && markup`<div class="why">${step.reason}</div>`}`;
}
