import { Alert, Anchor, Button, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { useAccounts } from '../../../api/accounts';
import { api } from '../../../api/client';
import type { FindingTimeline } from '../../../api/generated/schema';
import { useSession } from '../../../api/session';
import { Page } from '../../../components/page/page';
import { Section } from '../../../components/page/section';
import { Answer } from '../../../components/page/states';
import { Copyable } from '../../../components/values/copyable';
import { Facts } from '../../../components/values/facts';
import { inWords } from '../../../components/values/format';
import { Instant, Maybe } from '../../../components/values/values';
import { signedUsd } from '../amounts';
import { SeverityBadge, StateBadge } from '../badges';
import { ReconciliationNav } from '../nav';
import { type Conflicts, Decide } from './decide';
import { EvidenceTable, FieldsTable } from './finding-fields';
import { FindingHistory } from './finding-timeline';

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
        "Upstream's id": <Maybe text={finding.upstream_id} />,
        "Upstream's batch": <Maybe text={finding.batch_ref} />,
        Wallet: <Maybe text={finding.wallet_id} />,
        Id: <Copyable text={finding.id} label="id" />,
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
