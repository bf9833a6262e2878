import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { CallStory } from '../../api/generated/schema';
import { formatCount } from '../../components/format';
import { Copyable } from '../../components/copyable';
import { Instant, Maybe, Usd } from '../../components/values';
import { CallLink } from './call-link';
import { Section } from './section';
import classes from './call.module.css';

/** Who asked for what, from where, and by which ids it is known. */
export function Facts({ story }: { story: CallStory }) {
  const { client, timings, coverage } = story;
  return (
    <Section title="Facts">
      <dl className={classes.facts}>
        <Fact name="Call">
          <Copyable text={story.id} label="the call's id" />
        </Fact>
        <Fact name="Total">
          <Total story={story} />
        </Fact>
        <Fact name="Client">{client.name ?? client.id}</Fact>
        <Fact name="For">
          <Maybe text={story.actor} />
        </Fact>
        <Fact name="Key">
          <Copyable text={story.key_id} label="the key's id" />
        </Fact>
        <Fact name="Address">
          <Maybe text={story.client_address} />
        </Fact>
        <Fact name="Request">
          <Copyable text={story.request_id} label="the request id" />
        </Fact>
        <Fact name="Idempotency key">
          <MaybeCopyable text={story.idempotency_key} label="the idempotency key" />
        </Fact>
        <Fact name="Received">
          <Instant at={timings.received_at} />
        </Fact>
        {coverage !== null && <Fact name="Coverage">{coverage}</Fact>}
        {story.traceparent !== null && (
          <Fact name="Trace">
            <Copyable text={story.traceparent} label="the trace context" />
          </Fact>
        )}
        <Related story={story} />
      </dl>
    </Section>
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

/** Calls that have to do with it. */
function Related({ story: { caused_by, upstream, refusal, doubt } }: { story: CallStory }) {
  const related: [name: string, ids: (string | null | undefined)[]][] = [
    ['Made for', [caused_by]],
    ['Answer of', [upstream?.answer_of]],
    ['Repeats', [refusal?.first_call_id]],
    ['May be the same as', doubt?.calls ?? []],
  ];
  return related.map(([name, ids]) => {
    const known = ids.filter((id) => typeof id === 'string');
    if (known.length === 0) return null;
    return (
      <Fact key={name} name={name}>
        {known.map((id) => (
          <div key={id}>
            <CallLink id={id} />
          </div>
        ))}
      </Fact>
    );
  });
}

function MaybeCopyable({ text, label }: { text: string | null; label: string }) {
  return text === null ? <Maybe text={null} /> : <Copyable text={text} label={label} />;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
