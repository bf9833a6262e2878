import { Alert, Anchor, Text } from '@mantine/core';
import { ShieldAlert } from 'lucide-react';
import { Link } from 'wouter';
import { api } from '../../api/client';
import { useSession } from '../../api/session';
import { Instant } from '../values/values';

const REFETCH_MS = 60_000;

/** Shows the operations whose rejections are doubted, because their payouts stay in doubt for longer. */
export function DoubtedOperationsBanner() {
  const { may } = useSession();
  const mayKnow = may('audit', 'reconcile', 'approve', 'admin');
  const { data } = api.useQuery(
    'get',
    '/v1/overview',
    { params: { query: { days: 1 } } },
    { enabled: mayKnow, refetchInterval: REFETCH_MS },
  );
  const operations = typeof data === 'object' ? data.doubted_operations : [];
  if (!mayKnow || operations.length === 0) return null;
  return (
    <Alert
      color="red"
      variant="light"
      role="status"
      p="xs"
      mb="md"
      icon={<ShieldAlert size={18} aria-hidden />}
    >
      {operations.map(({ account, operation, calls, until }) => (
        <Text key={`${account} ${operation}`} size="sm" className="wrap-anywhere">
          <b>
            False rejections: {operation}, account {account}.
          </b>{' '}
          The upstream rejected {calls} {calls === 1 ? 'call' : 'calls'} and carried{' '}
          {calls === 1 ? 'it' : 'them'} out. Its rejections are doubted until <Instant at={until} />.
        </Text>
      ))}
      {may('admin', 'audit') && (
        <Anchor component={Link} href="/activity?action=false_rejection" size="sm" c="inherit" td="underline">
          Go to the activity
        </Anchor>
      )}
    </Alert>
  );
}
