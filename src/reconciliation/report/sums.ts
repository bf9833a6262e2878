import { Decimal } from 'decimal.js';
import { Totals } from '../matching/totals';
import { ReportEquation } from './report.dto';

/**
 * States the equation of a run: the upstream's total minus ours is the findings, the differences within tolerance, and
 * a residual that must be zero.
 */
export function equationOf(totals: Totals): ReportEquation {
  const { ours, theirs, findings, within_tolerance_usd: tolerance, residual_usd: residual } = totals;
  const found = Object.values(findings.by_category).reduce((sum, { usd }) => sum.add(usd), new Decimal(0));
  return {
    upstream_usd: theirs.usd,
    ours_usd: ours.usd,
    difference_usd: new Decimal(theirs.usd).sub(ours.usd).toFixed(),
    findings_usd: found.toFixed(),
    within_tolerance_usd: tolerance,
    residual_usd: residual,
  };
}
