import { Alert, Anchor, Button, Group, Kbd, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { ApprovalRecord } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { Section } from '../../components/page/section';
import { OutcomeBadge } from '../../components/values/badges';
import { Copyable } from '../../components/values/copyable';
import { Facts } from '../../components/values/facts';
import { clientWords } from '../../components/values/format';
import { Requester } from '../../components/values/requester';
import { Instant, Maybe, Operation, Usd } from '../../components/values/values';
import { approverWords } from '../../words/approvals';
import { outcomeWords } from '../../words/outcomes';
import { CallLink } from '../call/call-link';
import { ApprovalCaps } from './approval-caps';
import { ApprovalItems } from './approval-items';
import type { useDecision } from './decision';
import { countOf } from './summary';

interface Props {
  of: ApprovalRecord;
  decision: ReturnType<typeof useDecision>;
}

/** Shows a held call and the effect of an approval, or how it was decided. */
export function ApprovalDetail({ of, decision: { ask, decided } }: Props) {
  const isPending = of.approval?.status === 'pending';
  return (
    <Stack gap="md" miw={0}>
      {decided && <DecisionResult of={decided} />}
      <Group justify="space-between" gap="sm">
        <Group gap="sm">
          <Operation name={of.operation} />
          <OutcomeBadge outcome={of.outcome} />
        </Group>
        <Text fw={650} size="xl">
          <Usd amount={of.total_usd} />
        </Text>
      </Group>
      {isPending && <DecisionButtons ask={ask} />}
      <RequestFacts of={of} />
      {!isPending && <Decision of={of} />}
      {of.not_allowed && <NotAllowed because={of.not_allowed} />}
      {of.caps && (
        <Section title="Caps after approval">
          <ApprovalCaps caps={of.caps} />
        </Section>
      )}
      <Section title={isPending ? 'Payouts' : 'Request'}>
        <ApprovalItems key={of.id} items={of.items} />
      </Section>
    </Stack>
  );
}

function NotAllowed({ because: { code, detail } }: { because: NonNullable<ApprovalRecord['not_allowed']> }) {
  const isLost = code === 'content_lost';
  return (
    <Alert
      color="red"
      variant="light"
      title={isLost ? 'The content of this call is lost' : 'The client may no longer make this call'}
    >
      You cannot approve it{isLost ? '' : ' now'}, because {detail}.{' '}
      {isLost
        ? 'Reject it. To pay, the client sends the request again with a new Idempotency-Key.'
        : 'Change what the client or its person may do, or reject the call.'}
    </Alert>
  );
}

function DecisionButtons({ ask }: { ask: Props['decision']['ask'] }) {
  return (
    <Group gap="xs">
      <Button onClick={() => ask('approve')} rightSection={<Kbd size="xs">a</Kbd>}>
        Approve
      </Button>
      <Button variant="default" onClick={() => ask('reject')} rightSection={<Kbd size="xs">r</Kbd>}>
        Reject
      </Button>
    </Group>
  );
}

function RequestFacts({ of }: { of: ApprovalRecord }) {
  const { account, approval, client, timings } = of;
  const isPending = approval?.status === 'pending';
  return (
    <Facts
      of={{
        'Reason for approval': approval ? approverWords(approval.held_for) : undefined,
        'Earlier call': approval?.earlier_call_id ? <CallLink id={approval.earlier_call_id} /> : undefined,
        'Lost payment': approval?.unexplained_transaction ? (
          <Copyable text={approval.unexplained_transaction} label="the transaction" />
        ) : undefined,
        Client: <Maybe text={clientWords(client, account)} />,
        Person: <Requester of={of} />,
        Requested: <Instant at={timings.received_at} />,
        Expires: isPending ? (
          <>
            <Instant at={approval.expires_at} relative /> (<Instant at={approval.expires_at} />)
          </>
        ) : undefined,
        Total: (
          <>
            <Usd amount={of.total_usd} /> in {countOf(of.item_count)}
          </>
        ),
        Call: <Copyable text={of.id} label="the call's ID" />,
        Content: approval?.content_hash ? (
          <Copyable
            text={approval.content_hash}
            label="the content's hash"
            shown={`${approval.content_hash.slice(0, 16)}…`}
          />
        ) : undefined,
      }}
    />
  );
}

const upstreamWords = ({ status, failure }: NonNullable<ApprovalRecord['upstream']>) =>
  status === null ? failure : `answered ${status}`;

/** Announces the result of a decision to screen readers. */
function DecisionResult({ of }: { of: ApprovalRecord }) {
  const isApproved = of.approval?.status === 'approved';
  const color = isApproved && !['succeeded', 'confirmed'].includes(of.outcome) ? 'orange' : 'teal';
  return (
    <Alert color={color} variant="light" title={isApproved ? 'Approved and sent' : 'Rejected'}>
      {isApproved
        ? `Outcome: ${outcomeWords(of.outcome)}.`
        : 'It will never be sent. Your reason is recorded.'}
    </Alert>
  );
}

function Decision({ of: { id, approval, outcome, upstream, timings } }: { of: ApprovalRecord }) {
  const { may } = useSession();
  if (!approval) return null;
  const { status, decided_by: by, decided_at: at, reason } = approval;
  const isDecided = status !== 'expired';
  const decision = `${status} by ${by?.actor ?? 'the key'} of ${by?.client.name ?? 'an unknown client'}`;
  return (
    <Section title={isDecided ? 'Decision' : 'Expired without a decision'}>
      <Facts
        of={{
          Decided: isDecided ? decision : undefined,
          When: isDecided ? <Instant at={at} /> : undefined,
          Reason: isDecided ? <Maybe text={reason} /> : undefined,
          Outcome: outcomeWords(outcome),
          Upstream: upstream ? upstreamWords(upstream) : undefined,
          Answered: timings.answered_at === null ? undefined : <Instant at={timings.answered_at} />,
        }}
      />
      {may('audit') && (
        <Anchor component={Link} href={`/calls/${id}`} size="sm">
          Full history of this call
        </Anchor>
      )}
    </Section>
  );
}
