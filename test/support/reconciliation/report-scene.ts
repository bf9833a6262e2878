import { CATEGORY_NAMES } from '../../../src/reconciliation/findings/categories';
import { TotalsRecord } from '../../../src/reconciliation/matching/totals.dto';
import { FindingsScene, NewFinding } from './findings-scene';

const DAY_MS = 86_400_000;

/** Returns totals of a run with these findings of each category. */
export function totalsOf(
  findings: { category: string; usd: string }[],
  { days = 1, residual = '0' }: { days?: number; residual?: string } = {},
): TotalsRecord {
  const by: TotalsRecord['findings']['by_category'] = {};
  for (const { category, usd } of findings) {
    const { count, usd: before } = by[category] ?? { count: 0, usd: '0' };
    by[category] = { count: count + 1, usd: String(Number(before) + Number(usd)) };
  }
  const sum = Object.values(by).reduce((total, { usd }) => total + Number(usd), 0);
  return {
    ours: { count: 10, usd: '1000' },
    theirs: { count: 11, usd: String(1_000 + sum + Number(residual)) },
    matched: {
      count: 10,
      by_rule: { upstream_ref: 9, fingerprint: 1 },
      by_certainty: { certain: 9, probable: 1 },
    },
    findings: { count: findings.length, by_category: by },
    in_doubt: { count: 1, usd: '5' },
    pending: { count: 0, usd: '0' },
    ambiguous: { count: 0, usd: '0' },
    doubts: [],
    wallets: [],
    aside: {},
    unlisted: 0,
    incomplete: [],
    within_tolerance_usd: '0',
    residual_usd: residual,
    by_day: Array.from({ length: days }, (_, day) => ({
      day: new Date(Date.UTC(2025, 9, 1) + day * DAY_MS).toISOString().slice(0, 10),
      matched: 10_000,
      ours_only: day % 2,
      theirs_only: day % 3,
      ours_usd: '10',
      theirs_usd: '11',
    })),
  };
}

/** A run with two findings of each category. */
export async function runWithAllCategories(scene: FindingsScene, more: object = {}): Promise<string> {
  const findings = CATEGORY_NAMES.flatMap((category): (NewFinding & { category: string; usd: string })[] => [
    {
      category,
      usd: '12.5',
      callId: '01a1ff28-7377-773b-b0f8-73b43b8d685b',
      position: 0,
      upstreamRef: `chi-1-${category}`,
    },
    {
      category,
      usd: '-0.000125',
      upstreamRef: `${category}-${'W'.repeat(90)}`,
      fields: [{ field: 'status', ours: 'w'.repeat(70), theirs: 'W'.repeat(70) }],
    },
  ]);
  const run = await scene.run({ totals: totalsOf(findings, more) });
  await scene.findings(run, findings);
  return run;
}
