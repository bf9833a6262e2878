import { Anchor, Text, Timeline } from '@mantine/core';
import { Eye, Gavel } from 'lucide-react';
import { Link } from 'wouter';
import type { FindingSight, FindingStep, FindingTimeline } from '../../../api/generated/schema';
import { formatCount } from '../../../components/values/format';
import { Instant } from '../../../components/values/values';
import { signedUsd } from '../amounts';

type Event = { at: string; sight: FindingSight } | { at: string; step: FindingStep };

/** Shows the observations of runs and the decisions, in order of time. */
export function FindingHistory({
  finding: { sights, sight_count: count, steps },
}: {
  finding: FindingTimeline;
}) {
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
