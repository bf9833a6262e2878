import { Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { CallTimeline } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { Section } from '../../components/page/section';
import { Copyable } from '../../components/values/copyable';
import { Facts as FactList } from '../../components/values/facts';
import { clientWords, formatCount } from '../../components/values/format';
import { Requester } from '../../components/values/requester';
import { Instant, Maybe, Usd } from '../../components/values/values';
import { CallLink } from './call-link';
import { isKeyErased } from './messages/curl';

/** Shows the requester, the source address and the IDs of a call. */
export function Facts({ timeline }: { timeline: CallTimeline }) {
  const { client, timings, coverage, traceparent } = timeline;
  const signedInAt = timeline.token?.auth_time ?? timeline.session?.auth_time;
  return (
    <Section title="Facts">
      <FactList
        of={{
          Call: <Copyable text={timeline.id} label="the call's ID" />,
          Total: <Total timeline={timeline} />,
          'Expected fees':
            timeline.expected_fee_usd === null ? undefined : <Usd amount={timeline.expected_fee_usd} />,
          Client: clientWords(client, timeline.account),
          'On behalf of': <Requester of={timeline} />,
          Person:
            timeline.person_id === null ? undefined : (
              <PersonId client={client.name} id={timeline.person_id} />
            ),
          Key: <Copyable text={timeline.key_id} label="the key's ID" />,
          'Ephemeral key':
            timeline.ephemeral_key_id === null ? undefined : (
              <Copyable text={timeline.ephemeral_key_id} label="the ephemeral key's ID" />
            ),
          Token: timeline.token?.jti ? (
            <Copyable text={timeline.token.jti} label="the token's ID" />
          ) : undefined,
          'Page session': timeline.session ? (
            <Copyable text={timeline.session.id} label="the session's ID" />
          ) : undefined,
          'Signed in': signedInAt ? <Instant at={signedInAt} /> : undefined,
          'Acting party': timeline.token?.act ? (
            <Copyable text={timeline.token.act.person_id} label="the id of the acting party" />
          ) : undefined,
          Address: <Maybe text={timeline.client_address} />,
          Request: <Copyable text={timeline.request_id} label="the request id" />,
          'Idempotency key': isKeyErased(timeline) ? (
            'Erased'
          ) : (
            <MaybeCopyable text={timeline.idempotency_key} label="the idempotency key" />
          ),
          Received: <Instant at={timings.received_at} />,
          Answer: timeline.undelivered ? 'The caller disconnected before it was delivered' : undefined,
          Restored: timeline.recovered
            ? 'From a copy, by database recover. The body and the recipients are lost'
            : undefined,
          Coverage: coverage ?? undefined,
          Trace: traceparent === null ? undefined : <Copyable text={traceparent} label="the trace context" />,
          ...relatedTo(timeline),
        }}
      />
    </Section>
  );
}

/** Links administrators to the limits and the spending of the person. */
function PersonId({ client, id }: { client: string | null; id: string }) {
  const { may } = useSession();
  return (
    <>
      <Copyable text={id} label="the person's ID" />
      {client !== null && may('admin') && (
        <Anchor component={Link} href={`/clients/${client}/persons/${id}`} size="sm">
          Limits and spending
        </Anchor>
      )}
    </>
  );
}

function Total({ timeline: { total_usd, item_count } }: { timeline: CallTimeline }) {
  return (
    <>
      <Usd amount={total_usd} />{' '}
      {item_count > 0 && (
        <Text span size="sm" c="dimmed">
          in {formatCount(item_count)} {item_count === 1 ? 'item' : 'items'}
        </Text>
      )}
    </>
  );
}

/** Shows related calls. */
function relatedTo({
  caused_by,
  duplicate_of,
  upstream,
  refusal,
  doubt,
}: CallTimeline): Record<string, ReactNode> {
  const related: [name: string, ids: (string | null | undefined)[]][] = [
    ['Caused by', [caused_by]],
    ['Deliberate duplicate of', [duplicate_of]],
    ['Response from', [upstream?.answer_of]],
    ['Replay of', [refusal?.first_call_id]],
    ['Possible duplicate of', doubt?.calls ?? []],
  ];
  const known = related.map(([name, ids]) => [name, ids.filter((id) => typeof id === 'string')] as const);
  return Object.fromEntries(
    known.map(([name, ids]) => [name, ids.length > 0 ? <CallLinks key={name} ids={ids} /> : undefined]),
  );
}

function CallLinks({ ids }: { ids: string[] }) {
  return ids.map((id) => (
    <div key={id}>
      <CallLink id={id} />
    </div>
  ));
}

function MaybeCopyable({ text, label }: { text: string | null; label: string }) {
  return text === null ? <Maybe text={null} /> : <Copyable text={text} label={label} />;
}
