import { Alert, Anchor, Text } from '@mantine/core';
import { ShieldAlert } from 'lucide-react';
import { Link } from 'wouter';
import type { Overview } from '../../api/generated/schema';
import { useSession } from '../../api/session';
import { Instant } from '../values/values';

/** Names the operations whose rejections are doubted. */
export default function FalseRejections({ operations }: { operations: Overview['doubted_operations'] }) {
  const { may } = useSession();
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
