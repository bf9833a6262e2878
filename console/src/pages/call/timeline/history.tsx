import { Anchor, Group, List, Text, Timeline } from '@mantine/core';
import { Link } from 'wouter';
import type { CallTimeline } from '../../../api/generated/schema';
import { useSession } from '../../../api/session';
import { Section } from '../../../components/page/section';
import { Copyable } from '../../../components/values/copyable';
import { formatCount } from '../../../components/values/format';
import { Instant } from '../../../components/values/values';
import { CallLink } from '../call-link';
import { type TimelineEvent, timelineOf } from './timeline';

/** Shows the timeline of the call, with the time between the steps. */
export function History({ timeline }: { timeline: CallTimeline }) {
  const events = timelineOf(timeline);
  const previous = events.map((_, at) => events[at - 1]?.at ?? null);
  const sealed = timeline.seals.filter(({ index }) => index !== null);
  return (
    <Section title="History">
      <Timeline bulletSize={14} lineWidth={2} active={events.length} color="gray" role="list">
        {events.map((event, at) => (
          <Timeline.Item key={`${event.title} ${at}`} color={event.color} title={event.title} role="listitem">
            <When event={event} before={previous[at] ?? null} />
            <Description event={event} />
          </Timeline.Item>
        ))}
        <Timeline.Item
          color={sealed.length === timeline.seals.length ? 'teal' : 'gray'}
          title={sealed.length === timeline.seals.length ? 'Sealed' : 'Not sealed yet'}
          role="listitem"
        >
          <Seals timeline={timeline} />
        </Timeline.Item>
      </Timeline>
      <Decide timeline={timeline} />
    </Section>
  );
}

function When({ event: { at }, before }: { event: TimelineEvent; before: string | null }) {
  return (
    <Text size="xs" c="dimmed">
      <Instant at={at} />
      {at !== null && before !== null && ` · ${formatGap(before, at)}`}
    </Text>
  );
}

function Description({ event: { lines, list = [], calls = [] } }: { event: TimelineEvent }) {
  return (
    <>
      {lines.map((line) => (
        <Text key={line} size="sm" className="wrap-anywhere">
          {line}
        </Text>
      ))}
      {list.length > 0 && (
        <List size="sm" mt={4}>
          {list.map((line, at) => (
            <List.Item key={at} className="wrap-anywhere">
              {line}
            </List.Item>
          ))}
        </List>
      )}
      {calls.map((id) => (
        <div key={id}>
          <CallLink id={id} />
        </div>
      ))}
    </>
  );
}

/** Shows the positions of the records in the log, by the checkpoint that covers them. */
function Seals({ timeline: { seals } }: { timeline: CallTimeline }) {
  const sizes = [...new Set(seals.map(({ checkpoint_size }) => checkpoint_size))];
  return sizes.map((size) => {
    const covered = seals.filter(({ checkpoint_size }) => checkpoint_size === size);
    return (
      <div key={size}>
        <Text size="xs" c="dimmed">
          {size === null ? 'Will be sealed within seconds:' : <Instant at={covered[0]?.sealed_at} />}
          {size !== null && ` · checkpoint of ${formatCount(size)} records`}
        </Text>
        {covered.map((seal, at) => (
          <Group key={at} gap={6} wrap="nowrap">
            <Text size="sm">
              {seal.kind.replaceAll('_', ' ')}
              {seal.index !== null && `, leaf ${formatCount(seal.index)}`}
            </Text>
            {seal.leaf_hash !== null && (
              <Copyable
                text={seal.leaf_hash}
                shown={`${seal.leaf_hash.slice(0, 8)}…`}
                label={`the leaf hash of the ${seal.kind}`}
              />
            )}
          </Group>
        ))}
      </div>
    );
  });
}

/** Links approvers to the pending approval. */
function Decide({ timeline: { id, approval } }: { timeline: CallTimeline }) {
  const { may } = useSession();
  if (approval?.status !== 'pending' || !may('approve')) return null;
  return (
    <Anchor component={Link} href={`/approvals/${id}`} size="sm">
      Approve or reject it
    </Anchor>
  );
}

const UNITS = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Formats the time between two instants: `+12 ms`, `+3.4 s`. It is negative if two clocks differ. */
function formatGap(from: string, to: string): string {
  const ms = new Date(to).getTime() - new Date(from).getTime();
  const [unit, length] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? (['ms', 1] as const);
  const amount = length === 1 ? String(Math.abs(ms)) : (Math.abs(ms) / length).toFixed(1);
  return `${ms < 0 ? '−' : '+'}${amount} ${unit}`;
}
