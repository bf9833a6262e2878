import { Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { RunProgressRecord, RunRecord } from '../../../api/generated/schema';
import { useEvents } from '../../../api/live';
import { formatCount, inWords } from '../../../components/values/format';
import { STEP_WORDS } from '../../../words/reconciliation';

/**
 * Shows the progress of a run.
 * @param onEnd called after the run has ended or was interrupted.
 */
export function RunProgress({ run, onEnd }: { run: RunRecord; onEnd: () => void }) {
  const [progress, setProgress] = useState(run.progress);
  const [isQueued, setQueued] = useState(run.state === 'queued');
  const [isOver, setOver] = useState(false);
  const over = () => {
    setOver(true); // otherwise the browser reconnects
    onEnd();
  };
  const connection = useEvents(isOver ? undefined : `/v1/reconciliation/runs/${run.id}`, {
    queued: () => setQueued(true),
    progress: (data) => {
      setQueued(false);
      setProgress(data as RunProgressRecord);
    },
    end: over,
    interrupted: over,
  });
  const words = isOver
    ? 'Finishing'
    : isQueued
      ? 'Waiting for a worker'
      : progress
        ? wordsOf(progress)
        : 'In progress';
  return (
    <Stack gap={4} maw={420}>
      <Progress
        value={progress?.of ? (100 * progress.done) / progress.of : 100}
        animated
        aria-label="Progress of the run"
        aria-valuetext={progress?.of ? undefined : words}
      />
      <Text size="xs" c="dimmed" role="status">
        {words}
        {connection === 'lost' && !isOver && ' (connection lost; reconnecting)'}
      </Text>
    </Stack>
  );
}

function wordsOf({ step, done, of }: RunProgressRecord): string {
  const words = STEP_WORDS[step] ?? inWords(step);
  if (of === null) return done === 0 ? words : `${words}: ${formatCount(done)} so far`;
  return `${words}: ${formatCount(done)} of ${formatCount(of)}`;
}
