import { Alert, Anchor, Button, Group, Stack, Text, Timeline } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Eye, Gavel } from 'lucide-react';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { useAccounts } from '../../../api/accounts';
import { api } from '../../../api/client';
import type { EvidenceTwin, FindingTimeline, FindingSight, FindingStep } from '../../../api/generated/schema';
import { useSession } from '../../../api/session';
import { Page } from '../../../components/page/page';
import { Section } from '../../../components/page/section';
import { Answer } from '../../../components/page/states';
import { Copyable } from '../../../components/values/copyable';
import { Facts } from '../../../components/values/facts';
import { inWords, formatCount } from '../../../components/values/format';
import { Instant, Maybe } from '../../../components/values/values';
import { signedUsd } from '../amounts';
import { SeverityBadge, StateBadge } from '../badges';
import { ReconciliationNav } from '../nav';
import { type Conflicts, Decide } from './decide';
import { EvidenceTable, FieldsTable } from './finding-fields';

export default function FindingPage() {
  const { id = '' } = useParams();
  const finding = api.useQuery('get', '/v1/reconciliation/findings/{id}', { params: { path: { id } } });
  const [isDeciding, { open, close }] = useDisclosure();
  const [conflicts, setConflicts] = useState<Conflicts>(new Map());
  const { data } = finding;
  return (
    <Page
      title={data?.title ?? 'Finding'}
      lead={data?.meaning}
      actions={data && <Button onClick={open}>{data.age_days === null ? 'Reopen' : 'Decide'}</Button>}
    >
      <ReconciliationNav />
      {[...conflicts.values()].map((conflict) => (
        <Alert key={conflict} color="orange" variant="light" title="Not decided" role="alert">
          {conflict}
        </Alert>
      ))}
      <Answer of={finding} lines={8}>
        {(timeline) => <Finding finding={timeline} />}
      </Answer>
      {isDeciding && data && (
        <Decide
          findings={[data]}
          close={close}
          onDecided={() => setConflicts(new Map())}
          onConflict={setConflicts}
        />
      )}
    </Page>
  );
}

function Finding({ finding }: { finding: FindingTimeline }) {
  return (
    <Stack gap="lg">
      <Group gap="xs">
        <SeverityBadge of={finding} />
        <StateBadge state={finding.state} />
      </Group>
      <Alert variant="light" color="gray" title="What to do">
        {finding.suggested_action}
      </Alert>
      <Section title="What differs">
        <FieldsTable fields={finding.fields} />
      </Section>
      <Section title="Details">
        <About finding={finding} />
      </Section>
      <Section title="History">
        <FindingHistory finding={finding} />
      </Section>
      <Section title="Evidence">
        <EvidenceTable evidence={finding.evidence} />
      </Section>
      {finding.evidence.twin && (
        <Section title="The transaction that it repeats or gives back">
          <Twin twin={finding.evidence.twin} />
        </Section>
      )}
    </Stack>
  );
}

function About({ finding }: { finding: FindingTimeline }) {
  const { call_id: call, position } = finding;
  const isOfSeveral = useAccounts().length > 1;
  return (
    <Facts
      of={{
        Category: inWords(finding.category),
        'Difference (theirs − ours)': signedUsd(finding.impact_usd),
        'Upstream account': isOfSeveral ? finding.account : undefined,
        Call: <CallLink id={call} />,
        Item: position === null ? undefined : `number ${position + 1}`,
        Paid: <Instant at={finding.occurred_at} />,
        Found: <SeenBy at={finding.found_at} run={finding.found_by} />,
        'Last seen': <SeenBy at={finding.seen_at} run={finding.seen_by} />,
        'Open for': finding.age_days === null ? 'decided' : inDays(finding.age_days),
        'Upstream reference': <Maybe text={finding.upstream_ref} />,
        "Upstream's ID": <Maybe text={finding.upstream_id} />,
        "Upstream's batch": <Maybe text={finding.batch_ref} />,
        Wallet: <Maybe text={finding.wallet_id} />,
        ID: <Copyable text={finding.id} label="ID" />,
      }}
    />
  );
}

function Twin({ twin }: { twin: EvidenceTwin }) {
  return (
    <Facts
      of={{
        Call: <CallLink id={twin.call_id} />,
        Item: twin.position === null ? undefined : `number ${twin.position + 1}`,
        Issued: twin.at === null ? undefined : <Instant at={twin.at} />,
        'Upstream reference': <Maybe text={twin.upstream_ref} />,
        "Upstream's ID": <Maybe text={twin.upstream_id} />,
        "Upstream's batch": <Maybe text={twin.batch_ref} />,
      }}
    />
  );
}

const inDays = (days: number) => (days === 1 ? '1 day' : `${days} days`);

function CallLink({ id }: { id: string | null }) {
  const { may } = useSession();
  if (id === null || !may('audit')) return <Maybe text={id} />;
  return (
    <Anchor component={Link} href={`/calls/${id}`} size="sm" className="wrap-anywhere">
      {id}
    </Anchor>
  );
}

function SeenBy({ at, run }: { at: string; run: string }) {
  return (
    <>
      <Instant at={at} />, by{' '}
      <Anchor component={Link} href={`/reconciliation/runs/${run}`} size="sm" underline="always">
        this run
      </Anchor>
    </>
  );
}

type Event = { at: string; sight: FindingSight } | { at: string; step: FindingStep };

/** Shows the observations of runs and the decisions, in order of time. */
function FindingHistory({ finding: { sights, sight_count: count, steps } }: { finding: FindingTimeline }) {
  const events: Event[] = [
    ...sights.map((sight) => ({ at: sight.seen_at, sight })),
    ...steps.map((step) => ({ at: step.decided_at, step })),
  ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return (
    <>
      {count > sights.length && (
        <Text size="sm" c="dimmed" mb="xs">
          {formatCount(count)} runs saw it. The list shows the newest {formatCount(sights.length)}.
        </Text>
      )}
      <Timeline bulletSize={22} lineWidth={2} color="gray" active={events.length - 1}>
        {events.map((event) =>
          'sight' in event ? (
            <Sight key={`sight ${event.sight.run_id}`} {...event} />
          ) : (
            <Step key={event.step.id} {...event} />
          ),
        )}
      </Timeline>
    </>
  );
}

function Sight({
  sight: { run_id: run, seen_at: at, impact_usd: usd, historical },
}: {
  sight: FindingSight;
}) {
  return (
    <Timeline.Item bullet={<Eye size={12} aria-hidden />} title="Seen by a run">
      <Text size="sm">
        <Anchor component={Link} href={`/reconciliation/runs/${run}`} size="sm" underline="always">
          The run
        </Anchor>{' '}
        saw it with {signedUsd(usd)}
        {historical && ', looking back'}.
      </Text>
      <Text size="xs" c="dimmed">
        <Instant at={at} />
      </Text>
    </Timeline.Item>
  );
}

function Step({ step }: { step: FindingStep }) {
  const by =
    step.run_id !== null ? 'Automatically, by a run' : `By ${step.actor ?? 'a key without a person'}`;
  return (
    <Timeline.Item bullet={<Gavel size={12} aria-hidden />} title={`Marked as ${step.state}`}>
      <Text size="sm" className="wrap-anywhere">
        {step.reason}
      </Text>
      <Text size="xs" c="dimmed">
        {by}, when it was worth {signedUsd(step.impact_usd)}. <Instant at={step.decided_at} />
      </Text>
    </Timeline.Item>
  );
}
