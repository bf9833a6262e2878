import { createHash } from 'node:crypto';
import { Decimal } from 'decimal.js';
import { Category, CATEGORY_NAMES } from '../../findings/categories';
import { FindingRecord } from '../../findings/findings.dto';
import { TotalsRecord, SumRecord } from '../../matching/totals.dto';
import { Result } from '../../runs/run-reader';
import { ReportHead, ReportEquation } from '../report.dto';
import { ageChart, categoryChart, dayChart, daysOfBar, sumDays } from './charts';
import { Markup, markup, mark } from './markup';
import { count, instant, period, plural, decimalsOf, signedUsd, usd } from './numbers';
import { STYLE } from './style';
import { findingsSection, doubtsInWords, doubtsTable, payoutsTable, walletsTable } from './tables';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'`;

/** Style element in one piece, because its hash covers every byte between the tags. */
const STYLE_ELEMENT = new Markup(`<style>${STYLE}</style>`);

/** Content security policy of the response. The page repeats it, except for header-only directives. */
export const CONTENT_SECURITY_POLICY = `${POLICY}; frame-ancestors 'none'`;

/** Writes a report as a page, in the parts in which it is sent. */
interface ReportPage {
  begin: string;
  section(category: Category, findings: FindingRecord[]): string;
  end: string;
}

export function reportPage(head: ReportHead): ReportPage {
  const { totals } = head.run;
  const sums = (totals?.findings.by_category ?? {}) as Partial<Record<Category, SumRecord>>;
  return {
    begin: begin(head, totals, sums).text,
    section: (category, findings) => {
      const sum = sums[category] ?? { count: findings.length, usd: total(findings) };
      return findingsSection(category, findings, sum).text;
    },
    end: markup`</main>
<footer><p>Written ${instant(head.written_at)} UTC; sums of payouts, states and ages are as of then. Amounts
are US dollars, exact. People are masked.</p></footer>
</body></html>
`.text,
  };
}

function begin(
  head: ReportHead,
  totals: TotalsRecord | null,
  sums: Partial<Record<Category, SumRecord>>,
): Markup {
  const { run, equation: sum } = head;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reconciliation, ${period(run.from, run.to)}</title>
${STYLE_ELEMENT}
</head>
<body>
<header>
<p class="kind">payout-proxy <span aria-hidden="true">/</span> reconciliation</p>
<h1>${period(run.from, run.to)}</h1>
${result(head, totals)}
${facts(head)}
</header>
<main>
${sum && equation(sum)}
${totals && charts(totals, sums, head)}
${payoutsTable(head.payouts)}
${totals && walletsTable(totals)}
${totals && doubtsTable(totals)}
${hasFindings(head) && markup`<h2>Findings</h2>`}
`;
}

function result({ run }: ReportHead, totals: TotalsRecord | null): Markup {
  if (run.result === 'failed' || !totals) {
    return markup`<p class="result bad">
      ${mark('cross')} No result. <span>${run.failure ?? 'This run has not ended.'}</span>
    </p>`;
  }
  const { count: found } = totals.findings;
  if (found === 0) return withoutFindings(run.result, totals);
  const worst = CATEGORY_NAMES.find((category) => (totals.findings.by_category[category]?.count ?? 0) > 0);
  const leak = worst === 'missing_local' && ' Start with the transactions that our records do not contain.';
  return markup`<p class="result ${leak ? 'bad' : 'some'}">
    ${mark('triangle')} ${plural(found, 'finding')}.${leak && markup` <span>${leak}</span>`}${reasons(totals)}
  </p>`;
}

function withoutFindings(word: Result | null, totals: TotalsRecord): Markup {
  if (word === 'clean') return markup`<p class="result good">${mark('tick')} Clean: no differences.</p>`;
  if (word === 'clean_with_doubts') {
    return markup`<p class="result some">
      ${mark('triangle')} No differences, but ${doubtsInWords(totals)}.
    </p>`;
  }
  return markup`<p class="result bad">
    ${mark('triangle')} Incomplete: no differences in the data that was read, but some data may be
    missing.${reasons(totals)}
  </p>`;
}

/** Explains why the listing may be incomplete. */
function reasons({ incomplete }: TotalsRecord): Markup {
  return markup`${incomplete.map(({ detail }) => markup` <span>${detail}</span>`)}`;
}

function facts({ run, source, states }: ReportHead): Markup {
  const fact = (name: string, value: string | Markup) =>
    markup`<div>
      <dt>${name}</dt>
      <dd>${value}</dd>
    </div>`;
  const from =
    source?.source === 'statement' ? `the statement ${source.subject ?? ''}` : "the upstream's transactions";
  const read = source
    ? `${from}, read ` +
      `${instant(source.read_at)}${source.rows === null ? '' : `, ${plural(source.rows, 'row')}`}`
    : 'nothing';
  const requester = run.started_by?.actor ?? run.started_by?.client ?? 'the schedule';
  const historical = run.historical ? ', historical: it changed no finding states' : '';
  const decided = Object.entries(states).map(([state, many]) => `${count(many)} ${state}`);
  return markup`<dl class="facts">
    ${fact('Period', `${instant(run.from)} to ${instant(run.to)} UTC, end exclusive`)}
    ${fact('Upstream account', run.account)}
    ${fact('Our records', `as of ${instant(run.as_of)}${historical}`)}
    ${fact('Compared with', read)} ${fact('Findings now', decided.length > 0 ? decided.join(', ') : 'none')}
    ${fact('Run', markup`<code>${run.id}</code> of ${requester}, ${instant(run.started_at)}`)}
    ${source?.sha256 && fact('SHA-256 of the data', markup`<code>${source.sha256}</code>`)}
  </dl>`;
}

function charts(totals: TotalsRecord, sums: Partial<Record<Category, SumRecord>>, head: ReportHead): Markup {
  const key = (look: string, name: string) =>
    markup`<li>
      <svg viewBox="0 0 12 12" aria-hidden="true"><rect width="12" height="12" class="${look}" /></svg>${name}
    </li>`;
  const { oursOnly, theirsOnly } = sumDays(totals.by_day);
  const days = daysOfBar(totals.by_day);
  const hasOpen = head.ageing.some((age) => age.count > 0);
  return markup`<figure class="wide">
      <figcaption>
        <h2>Payments, ${days === 1 ? 'day by day' : `by ${days} days`}</h2>
        <ul class="legend">
          ${key('matched', `matched ${count(totals.matched.count)}`)}
          ${key('ours', `only ours ${count(oursOnly)}`)}
          ${key('hatched', `only theirs ${count(theirsOnly)}`)}
        </ul>
      </figcaption>
      ${totals.by_day.length > 0 ? dayChart(totals.by_day) : markup`<p class="empty">There were none.</p>`}
      ${matching(totals)}
    </figure>
    <div class="pair">
      <figure>
        <figcaption>
          <h2>US dollars by category</h2>
          <p>Right: the upstream has more. Left: it has less.</p>
        </figcaption>
        ${totals.findings.count > 0 ? categoryChart(sums) : markup`<p class="empty">No differences.</p>`}
      </figure>
      <figure>
        <figcaption>
          <h2>Open findings</h2>
          <p>Open and reopened findings of all runs, by their age now.</p>
        </figcaption>
        ${hasOpen ? ageChart(head.ageing) : markup`<p class="empty">None.</p>`}
      </figure>
    </div>`;
}

function matching(totals: TotalsRecord): Markup {
  const { matched } = totals;
  const doubts = doubtsInWords(totals);
  const each = (of: Record<string, number>) =>
    Object.entries(of)
      .filter(([, many]) => many > 0)
      .map(([name, many]) => `${name} ${count(many)}`)
      .join(', ');
  const [rules, certainty] = [each(matched.by_rule), each(matched.by_certainty)];
  const sentences = [
    rules !== '' && `Matched by ${rules}.`,
    certainty !== '' && `Certainty: ${certainty}.`,
    doubts !== '' && `${doubts}.`,
  ];
  return markup`<p class="note">${sentences.filter((sentence) => sentence !== false).join(' ')}</p>`;
}

function hasFindings({ states }: ReportHead): boolean {
  return Object.values(states).some((many) => many > 0);
}

function total(findings: FindingRecord[]): string {
  return findings.reduce((sum, { impact_usd: usd }) => sum.add(usd), new Decimal(0)).toFixed();
}

/** Shows that the difference is explained completely, as the run must prove. */
function equation(sum: ReportEquation): Markup {
  const decimals = decimalsOf(Object.values(sum) as string[]);
  const plain = (amount: string) => usd(amount, decimals);
  const signed = (amount: string) => signedUsd(amount, decimals);
  const isZero = new Decimal(sum.residual_usd).isZero();
  const card = (name: string, amount: string, look = '', balance?: Markup) =>
    markup`<div class="card ${look}">
      <span class="label">${name}</span><span class="amount">${amount}</span>${balance}
    </div>`;
  const sign = (text: string) => markup`<span class="sign">${text}</span>`;
  const [look, symbol, balance] = isZero
    ? (['good', 'tick', 'zero'] as const)
    : (['bad', 'cross', 'not zero'] as const);
  const shown = markup`<span class="balance">${mark(symbol)}${balance}</span>`;
  return markup`<section class="equation" aria-labelledby="equation">
    <h2 id="equation">The difference, explained</h2>
    <p class="unseen">
      ${usd(sum.upstream_usd)} US dollars by the upstream, less ${usd(sum.ours_usd)} by our records, is
      ${usd(sum.difference_usd)}. Findings explain ${usd(sum.findings_usd)}, tolerance
      ${usd(sum.within_tolerance_usd)}; the residual is ${usd(sum.residual_usd)}.
    </p>
    <div class="terms" aria-hidden="true">
      ${card("Upstream's total", plain(sum.upstream_usd))}${sign('−')}
      ${card('Our total', plain(sum.ours_usd))}${sign('=')}
      ${card('Difference', signed(sum.difference_usd), 'strong')}
      <p class="which">explained by</p>
      ${card('Findings', signed(sum.findings_usd))}${sign('+')}
      ${card('Within tolerance', signed(sum.within_tolerance_usd))}${sign('+')}
      ${card('Residual', signed(sum.residual_usd), look, shown)}
    </div>
    ${
      !isZero &&
      markup`<p class="alarm">
      The sums do not add up: ${signedUsd(sum.residual_usd)} USD are unexplained. Do not rely on this run.
      Keep it and report a bug in payout-proxy.
    </p>`
    }
  </section>`;
}
