import { Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { CallStory } from '../../api/generated/schema';
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
export function Facts({ story }: { story: CallStory }) {
  const { client, timings, coverage, traceparent } = story;
  const signedInAt = story.token?.auth_time ?? story.session?.auth_time;
  return (
    <Section title="Facts">
      <FactList
        of={{
          Call: <Copyable text={story.id} label="the call's id" />,
          Total: <Total story={story} />,
          'Expected fees':
            story.expected_fee_usd === null ? undefined : <Usd amount={story.expected_fee_usd} />,
          Client: clientWords(client, story.account),
          'On behalf of': <Requester of={story} />,
          Person:
            story.person_id === null ? undefined : <PersonId client={client.name} id={story.person_id} />,
          Key: <Copyable text={story.key_id} label="the key's id" />,
          'Ephemeral key':
            story.ephemeral_key_id === null ? undefined : (
              <Copyable text={story.ephemeral_key_id} label="the ephemeral key's id" />
            ),
          Token: story.token?.jti ? <Copyable text={story.token.jti} label="the token's id" /> : undefined,
          'Page session': story.session ? (
            <Copyable text={story.session.id} label="the session's id" />
          ) : undefined,
          'Signed in': signedInAt ? <Instant at={signedInAt} /> : undefined,
          'Acting party': story.token?.act ? (
            <Copyable text={story.token.act.person_id} label="the id of the acting party" />
          ) : undefined,
          Address: <Maybe text={story.client_address} />,
          Request: <Copyable text={story.request_id} label="the request id" />,
          'Idempotency key': isKeyErased(story) ? (
            'Erased'
          ) : (
            <MaybeCopyable text={story.idempotency_key} label="the idempotency key" />
          ),
          Received: <Instant at={timings.received_at} />,
          Answer: story.undelivered ? 'The caller disconnected before it was delivered' : undefined,
          Restored: story.recovered
            ? 'From a copy, by database recover. The body and the recipients are lost'
            : undefined,
          Coverage: coverage ?? undefined,
          Trace: traceparent === null ? undefined : <Copyable text={traceparent} label="the trace context" />,
          ...relatedTo(story),
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
      <Copyable text={id} label="the person's id" />
      {client !== null && may('admin') && (
        <Anchor component={Link} href={`/clients/${client}/persons/${id}`} size="sm">
          Limits and spending
        </Anchor>
      )}
    </>
  );
}

function Total({ story: { total_usd, item_count } }: { story: CallStory }) {
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
}: CallStory): Record<string, ReactNode> {
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
