import { Alert, Anchor, List } from '@mantine/core';
import { Link } from 'wouter';
import type { CallDifference, CallTimeline } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { type Column, DataTable } from '../../components/lists/data-table';
import { Section } from '../../components/page/section';
import { inWords } from '../../components/values/format';
import { Instant, Maybe, Usd } from '../../components/values/values';
import { StateBadge } from '../reconciliation/badges';

/** Shows contradictions between the records of the call, and differences from the upstream's. */
export function Findings({ timeline }: { timeline: CallTimeline }) {
  const { may } = useSession();
  const { anomalies, reconciliation_findings: differences } = timeline;
  return (
    <>
      {anomalies.length > 0 && (
        <Alert color="orange" variant="light" title="The records of this call contradict each other">
          <List size="sm">
            {anomalies.map(({ code, detail, position }, at) => (
              <List.Item key={at}>
                {position === null ? '' : `Item ${position + 1}: `}
                {detail} ({inWords(code)})
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      {differences.length > 0 && (
        <Section title="Reconciliation findings">
          <DataTable
            label="Differences"
            columns={columnsFor(may('reconcile'))}
            rows={differences}
            keyOf={({ id }) => id}
            empty="No findings."
          />
        </Section>
      )}
    </>
  );
}

function columnsFor(mayReconcile: boolean): Column<CallDifference>[] {
  return [
    {
      id: 'category',
      title: 'Finding',
      render: ({ id, category }) =>
        mayReconcile ? (
          <Anchor component={Link} href={`/reconciliation/findings/${id}`} size="sm">
            {inWords(category)}
          </Anchor>
        ) : (
          inWords(category)
        ),
    },
    {
      id: 'position',
      title: 'Item',
      numeric: true,
      render: ({ position }) => <Maybe text={position === null ? null : position + 1} />,
    },
    {
      id: 'state',
      title: 'State',
      render: ({ state }) => <StateBadge state={state} />,
    },
    { id: 'impact', title: 'Impact', numeric: true, render: ({ impact_usd }) => <Usd amount={impact_usd} /> },
    { id: 'found_at', title: 'Found', render: ({ found_at }) => <Instant at={found_at} /> },
  ];
}
