import { Alert, Anchor, Button, Group, Stack, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { Link, useParams } from 'wouter';
import { api } from '../../api/client';
import { useSession } from '../../api/session';
import type { FindingStory } from '../../api/generated/schema';
import { inWords } from '../../components/format';
import { Page } from '../../components/page';
import { Answer } from '../../components/states';
import { Copyable } from '../../components/copyable';
import { Instant, Maybe } from '../../components/values';
import { type Conflicts, Decide } from './decide';
import { EvidenceTable, FieldsTable } from './finding-fields';
import { Story } from './finding-story';
import { ReconciliationNav } from './nav';
import { Facts } from './run-facts';
import { SeverityBadge, signedUsd, StateBadge } from './words';

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
        {(story) => <Finding finding={story} />}
      </Answer>
      {isDeciding && data && (
        <Decide findings={[data]} close={close} onDecided={() => setConflicts(new Map())} onConflict={setConflicts} />
      )}
    </Page>
  );
}

function Finding({ finding }: { finding: FindingStory }) {
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
      <Section title="About it">
        <About finding={finding} />
      </Section>
      <Section title="Its story">
        <Story finding={finding} />
      </Section>
      <Section title="The rows it rests on">
        <EvidenceTable evidence={finding.evidence} />
      </Section>
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {children}
    </section>
  );
}

function About({ finding }: { finding: FindingStory }) {
  const { call_id: call, position } = finding;
  return (
    <Facts
      facts={[
        ['Category', inWords(finding.category)],
        ["Adds to the upstream's total", signedUsd(finding.impact_usd)],
        ['Call', <CallLink key="call" id={call} />],
        ...(position === null ? [] : [['Item', `number ${position + 1}`] as const]),
        ['Paid', <Instant key="paid" at={finding.occurred_at} />],
        ['Found', <SeenBy key="found" at={finding.found_at} run={finding.found_by} />],
        ['Seen last', <SeenBy key="seen" at={finding.seen_at} run={finding.seen_by} />],
        ['Waits for', finding.age_days === null ? 'nobody: it is decided' : inDays(finding.age_days)],
        ['chiRef', <Maybe key="chi" text={finding.chi_ref} />],
        ["Upstream's id", <Maybe key="id" text={finding.upstream_id} />],
        ["Upstream's batch", <Maybe key="issue" text={finding.issue_id} />],
        ['Wallet', <Maybe key="wallet" text={finding.wallet_id} />],
        ['Id', <Copyable key="own" text={finding.id} label="id" />],
      ]}
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
