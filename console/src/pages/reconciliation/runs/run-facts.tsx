import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { useAccounts } from '../../../api/accounts';
import type { RunRecord } from '../../../api/generated/schema';
import { Section } from '../../../components/page/section';
import { Copyable } from '../../../components/values/copyable';
import { Facts } from '../../../components/values/facts';
import { formatCount, formatUsd, inWords } from '../../../components/values/format';
import { Instant, Maybe } from '../../../components/values/values';
import { Period, ResultBadge } from '../badges';
import { doubtsInWords } from './doubts';

/** Shows the request of a run, its author, and its settings. */
export function RunFacts({ run }: { run: RunRecord }) {
  const { settings, totals } = run;
  const isOfSeveral = useAccounts().length > 1;
  return (
    <Section title="The run">
      <Facts
        of={{
          Result: <ResultBadge run={run} />,
          'Upstream account': isOfSeveral ? run.account : undefined,
          Period: <Period from={run.from} to={run.to} />,
          'As of': <AsOf run={run} />,
          'Compared with': run.statement_id === null ? "the upstream's own listing" : <Statement />,
          Started: <Instant at={run.started_at} />,
          By: <StartedBy run={run} />,
          Ended: <Instant at={run.ended_at} />,
          Paired: totals
            ? `${formatCount(totals.matched.count)}${rulesOf(totals.matched.by_rule)}`
            : undefined,
          'In doubt': totals ? doubtsInWords(totals) || 'none' : undefined,
          'Amount tolerance': formatUsd(settings.amount_tolerance_usd),
          Fees: `${settings.fee_percent} % ± ${formatUsd(settings.fee_tolerance_usd)}`,
          'Balance tolerance': formatUsd(settings.balance_tolerance_usd),
          'Time tolerance': `${settings.time_tolerance_seconds} s`,
          'Late after': `${settings.late_after_seconds} s`,
          ID: <Copyable text={run.id} label="ID" />,
        }}
      />
    </Section>
  );
}

function AsOf({ run: { as_of: at, historical } }: { run: RunRecord }) {
  return (
    <>
      <Instant at={at} />
      {historical && ', historical: it changed no finding states'}
    </>
  );
}

function Statement() {
  return (
    <Anchor component={Link} href="/reconciliation/statements" size="sm">
      a statement
    </Anchor>
  );
}

function rulesOf(rules: Record<string, number>): string {
  const counts = Object.entries(rules).map(([rule, count]) => `${inWords(rule)} ${formatCount(count)}`);
  return counts.length > 0 ? `: by ${counts.join(', ')}` : '';
}

/** Shows the author of a run. */
export function StartedBy({ run: { started_by: by } }: { run: RunRecord }) {
  if (by === null) return 'the schedule';
  return [by.actor, by.client].filter(Boolean).join(', ') || <Maybe text={null} />;
}
