import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { http } from '../../api/client';
import { ReasonDialog } from '../../components/reason-dialog';
import { inShort, type Target } from '../../components/stop-words';

interface Props {
  target: Target;
  /** What it stops, by name. */
  operations: string[];
  clientCount: number;
  close: () => void;
}

const MAX_REASON = 500;

/** Names what is stopped, and what goes on, before anything is. */
export function StopDialog({ target, operations, clientCount, close }: Props) {
  const queries = useQueryClient();
  const run = async (reason: string) => {
    await http.POST('/v1/stops', { body: { ...target, reason } });
    await queries.invalidateQueries({ queryKey: ['get', '/v1/stops'] });
  };
  const whose = target.client === undefined ? `all ${clientCount} clients` : `the client ${target.client}`;
  return (
    <ReasonDialog
      title={target.everything ? 'Stop everything' : 'Stop'}
      action={target.everything ? 'Stop everything' : 'Stop it'}
      danger
      maxLength={MAX_REASON}
      {...(target.everything && { typed: 'stop everything' })}
      run={run}
      close={close}
    >
      <Text fw={600} className="wrap-anywhere">
        {inShort(target)}
      </Text>
      <Text size="sm">
        {operations.length === 0
          ? `Nothing that ${whose} may use now; what it is allowed later is refused too, with your reason.`
          : `From now on, on every instance, these are refused to ${whose}, with your reason:`}
      </Text>
      {operations.length > 0 && (
        <Text size="sm" ff="monospace" className="wrap-anywhere">
          {operations.map((name) => name.replace(' ', '\u00a0')).join(', ')}
        </Text>
      )}
      <Text size="sm">
        What goes on: whatever only reads, and calls that are being sent right now, which are finished. What waits for
        an approval waits on; approving it is refused until the stop is lifted.
      </Text>
      <Text size="sm" c="dimmed">
        Every app that is refused reads the reason: name no person and no secret.
      </Text>
    </ReasonDialog>
  );
}
