import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { http } from '../../api/client';
import { ReasonDialog } from '../../components/forms/reason-dialog';
import { inShort, type Target } from '../../components/values/stop-words';

interface Props {
  target: Target;
  /** The affected operations, by name. */
  operations: string[];
  clientCount: number;
  close: () => void;
}

const MAX_REASON = 500;

/** Shows the effect of a stop before it is added. */
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
      typed={target.everything ? 'stop everything' : undefined}
      run={run}
      close={close}
    >
      <Text fw={600} className="wrap-anywhere">
        {inShort(target)}
      </Text>
      <Text size="sm">
        {operations.length === 0
          ? `This affects no operation that ${whose} may use now. Operations allowed later are refused too, with your reason.`
          : `These operations of ${whose} are refused on every instance, with your reason:`}
      </Text>
      {operations.length > 0 && (
        <Text size="sm" ff="monospace" className="wrap-anywhere">
          {operations.map((name) => name.replace(' ', '\u00a0')).join(', ')}
        </Text>
      )}
      <Text size="sm">
        Reads continue. Calls that are being sent are completed. Pending requests stay pending, but cannot be
        approved until the stop is lifted.
      </Text>
      <Text size="sm" c="dimmed">
        Every refused app sees the reason. Do not include names of people or secrets.
      </Text>
    </ReasonDialog>
  );
}
