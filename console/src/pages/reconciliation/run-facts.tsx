import { Anchor, Table, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { RunRecord } from '../../api/generated/schema';
import { formatCount, formatUsd, inWords } from '../../components/format';
import { Copyable } from '../../components/copyable';
import { Instant } from '../../components/values';
import { StartedBy } from './started-by';
import { Period, ResultBadge } from './words';

/** Of a run: what it was asked for, by whom, and by which settings it judged. */
export function RunFacts({ run }: { run: RunRecord }) {
  const { settings, totals } = run;
  return (
    <section aria-labelledby="facts">
      <Title order={2} size="h4" id="facts" mb="xs">
        The run
      </Title>
      <Facts
        facts={[
          ['Result', <ResultBadge run={run} />],
          ['Period', <Period from={run.from} to={run.to} />],
          ['As of', <AsOf run={run} />],
          ['Compared with', run.statement_id === null ? "the upstream's own listing" : <Statement />],
          ['Started', <Instant at={run.started_at} />],
          ['By', <StartedBy run={run} />],
          ['Ended', <Instant at={run.ended_at} />],
          ...(totals
            ? ([
                ['Paired', `${formatCount(totals.matched.count)}${rulesOf(totals.matched.by_rule)}`],
                [
                  'In doubt, without a transaction',
                  `${formatCount(totals.in_doubt.count)}, ${formatUsd(totals.in_doubt.usd)}`,
                ],
              ] as const)
            : []),
          ['Amounts may differ by', formatUsd(settings.amount_tolerance_usd)],
          ['Fees', `${settings.fee_percent} % ± ${formatUsd(settings.fee_tolerance_usd)}`],
          ['Balances may differ by', formatUsd(settings.balance_tolerance_usd)],
          ['Times may differ by', `${settings.time_tolerance_seconds} s`],
          ['Late after', `${settings.late_after_seconds} s`],
          ['Id', <Copyable text={run.id} label="id" />],
        ]}
      />
    </section>
  );
}

/** Names and what they are. */
export function Facts({ facts }: { facts: (readonly [string, ReactNode])[] }) {
  return (
    <Table w="auto" verticalSpacing={4} fz="sm" withRowBorders={false}>
      <Table.Tbody>
        {facts.map(([name, fact]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400} c="dimmed" pl={0} style={{ verticalAlign: 'top' }}>
              {name}
            </Table.Th>
            <Table.Td className="wrap-anywhere">{fact}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function AsOf({ run: { as_of: at, historical } }: { run: RunRecord }) {
  return (
    <>
      <Instant at={at} />
      {historical && ', looking back: it changed the state of no finding'}
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
  const told = Object.entries(rules).map(([rule, count]) => `${inWords(rule)} ${formatCount(count)}`);
  return told.length > 0 ? `: by ${told.join(', ')}` : '';
}
