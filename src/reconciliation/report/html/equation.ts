import { Decimal } from 'decimal.js';
import { ReportEquation } from '../report.dto';
import { Markup, markup } from './markup';
import { mark } from './marks';
import { decimalsOf, signedUsd, usd } from './numbers';

/** Shows that the difference is explained completely, which is what the run must prove. */
export function equation(sum: ReportEquation): Markup {
  const decimals = decimalsOf(Object.values(sum) as string[]);
  const plain = (amount: string) => usd(amount, decimals);
  const signed = (amount: string) => signedUsd(amount, decimals);
  const isZero = new Decimal(sum.residual_usd).isZero();
  const card = (name: string, amount: string, look = '') =>
    markup`<div class="card ${look}"><span class="label">${name}</span><span class="amount">${amount}</span></div>`;
  const sign = (text: string) => markup`<span class="sign">${text}</span>`;
  const residual = markup`<div class="card ${isZero ? 'good' : 'bad'}">
    <span class="label">Residual</span><span class="amount">${signed(sum.residual_usd)}</span
    ><span class="balance">${mark(isZero ? 'tick' : 'cross')}${isZero ? 'zero' : 'not zero'}</span>
  </div>`;
  return markup`<section class="equation" aria-labelledby="equation">
    <h2 id="equation">The difference, explained</h2>
    <p class="unseen">
      ${`${usd(sum.upstream_usd)} US dollars by the upstream, less ${usd(sum.ours_usd)} by our records, is ${usd(sum.difference_usd)}. Findings explain ${usd(sum.findings_usd)}, tolerance ${usd(sum.within_tolerance_usd)}; the residual is ${usd(sum.residual_usd)}.`}
    </p>
    <div class="terms" aria-hidden="true">
      ${card("Upstream's total", plain(sum.upstream_usd))}${sign('−')}${card('Our total', plain(sum.ours_usd))}${sign('=')}${card('Difference', signed(sum.difference_usd), 'strong')}
      <p class="which">explained by</p>
      ${card('Findings', signed(sum.findings_usd))}${sign('+')}${card('Within tolerance', signed(sum.within_tolerance_usd))}${sign('+')}${residual}
    </div>
    ${!isZero && markup`<p class="alarm">The sums do not add up: ${signed(sum.residual_usd)} USD are unexplained. Do not rely on this run. Keep it and report a bug in payout-proxy.</p>`}
  </section>`;
}
