import { Alert, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { CircleCheck, OctagonX } from 'lucide-react';
import { useState } from 'react';
import { http } from '../../api/client';
import type { StopRecord, StopAuthorRecord } from '../../api/generated/schema';
import { ConfirmDialog } from '../../components/forms/confirm-dialog';
import { Instant } from '../../components/values/values';
import { inShort, targetOf } from '../../words/stops';
import { notifyPendingChange } from '../clients/pending-change';

/** Lists the active stops. */
export function ActiveStops({ stops }: { stops: StopRecord[] }) {
  const [lifting, setLifting] = useState<StopRecord>();
  if (stops.length === 0) return <NothingStopped />;
  return (
    <Stack gap="sm" component="section" aria-label="Active stops">
      {stops.map((stop) => (
        <Stop key={stop.id} stop={stop} lift={() => setLifting(stop)} />
      ))}
      {lifting && (
        <LiftDialog
          stop={lifting}
          others={stops.filter(({ id }) => id !== lifting.id)}
          close={() => setLifting(undefined)}
        />
      )}
    </Stack>
  );
}

function NothingStopped() {
  return (
    <Paper withBorder p="md" role="status">
      <Group gap="sm" wrap="nowrap">
        <CircleCheck aria-hidden color="var(--mantine-color-teal-text)" style={{ flexShrink: 0 }} />
        <div>
          <Title order={2} size="h3">
            Nothing is stopped
          </Title>
          <Text size="sm" c="dimmed">
            Apps can pay within their limits.
          </Text>
        </div>
      </Group>
    </Paper>
  );
}

function Stop({ stop, lift }: { stop: StopRecord; lift: () => void }) {
  const what = inShort(targetOf(stop));
  return (
    <Alert color="red" variant="light" role="status" icon={<OctagonX aria-hidden />}>
      <Stack gap="xs" align="flex-start">
        <Title order={2} size="h3" className="wrap-anywhere">
          Stopped: {what}
        </Title>
        <Text className="wrap-anywhere">“{stop.reason}”</Text>
        <Text size="sm">
          <Instant at={stop.stopped_at} relative />, <Instant at={stop.stopped_at} />, by{' '}
          <StopAuthor of={stop.stopped_by} cause={stop.cause} />
        </Text>
        {stop.cause === 'database_behind' && (
          <Text size="sm">
            Before you lift this stop, an operator must run <code>database recover</code>, and its
            reconciliation run must have read the period of the missing payments.
          </Text>
        )}
        <Group>
          <Button variant="default" onClick={lift} aria-label={`Lift this stop: ${what}`}>
            Lift this stop
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

function LiftDialog({ stop, others, close }: { stop: StopRecord; others: StopRecord[]; close: () => void }) {
  const queries = useQueryClient();
  const run = async () => {
    const { data } = await http.DELETE('/v1/stops/{id}', { params: { path: { id: stop.id } } });
    if (data) notifyPendingChange(data);
    await queries.invalidateQueries({ queryKey: ['get', '/v1/stops'] });
  };
  return (
    <ConfirmDialog title="Lift this stop" action="Lift it" run={run} close={close}>
      <Text size="sm" className="wrap-anywhere">
        <b>{inShort(targetOf(stop))}</b> continues immediately, on every instance. Requests that were refused
        are not sent automatically. Apps must send them again.
      </Text>
      {others.length > 0 && (
        <Text size="sm" className="wrap-anywhere">
          Other stops remain active: {others.map((other) => inShort(targetOf(other))).join('; ')}.
        </Text>
      )}
    </ConfirmDialog>
  );
}

/**
 * Shows the author of a stop or a lift: the person if known, the client of the key, or the user of the
 * command line.
 * @param cause reason of an automatic stop. Null if a person added it.
 */
export function StopAuthor({
  of,
  cause = null,
}: {
  of: StopAuthorRecord | null;
  cause?: StopRecord['cause'];
}) {
  if (cause !== null && of === null) return <>the proxy itself</>;
  if (of === null) return <>the command line</>;
  if (of.client === null) return <>{of.actor} on the command line</>;
  return <>{of.actor === null ? `the client ${of.client}` : `${of.actor} of ${of.client}`}</>;
}
