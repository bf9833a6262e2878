import { Decimal } from 'decimal.js';

/** How many, and worth how much in US dollars; decimal text. */
export interface Sum {
  count: number;
  usd: string;
}

export interface Day {
  /** `2026-11-20`, UTC. */
  day: string;
  matched: number;
  ours_only: number;
  theirs_only: number;
  ours_usd: string;
  theirs_usd: string;
}

/** What a run counted, as its end keeps it. */
export interface RunTotals {
  ours: Sum;
  theirs: Sum;
  matched: { count: number; by_rule: Record<string, number>; by_certainty: Record<string, number> };
  findings: { count: number; by_category: Record<string, Sum> };
  in_doubt: Sum;
  within_tolerance_usd: string;
  residual_usd: string;
  by_day: Day[];
}

/** The upstream's total less ours is what findings and tolerance explain, and a residual that must be zero. */
export interface Equation {
  upstream_usd: string;
  ours_usd: string;
  difference_usd: string;
  findings_usd: string;
  within_tolerance_usd: string;
  residual_usd: string;
}

export function equationOf(totals: RunTotals): Equation {
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
