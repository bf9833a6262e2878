import { Alert, Anchor, Text } from '@mantine/core';
import { OctagonX } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { api } from '../../api/client';
import { useSession } from '../../api/session';
import { inShort, targetOf } from '../../words/stops';
import { Instant } from '../values/values';

const REFETCH_MS = 15_000;

/** Shows active stops on all other pages, because they explain refused requests. */
export function StopBanner() {
  const { may } = useSession();
  const [location] = useLocation();
  const mayKnow = may('admin', 'approve', 'audit');
  const { data } = api.useQuery('get', '/v1/stops', {}, { enabled: mayKnow, refetchInterval: REFETCH_MS });
  const stops = data?.stops ?? [];
  // The page of the stop switch shows the stops in detail.
  if (!mayKnow || stops.length === 0 || location === '/stops') return null;
  return (
    <Alert color="red" variant="light" role="status" p="xs" mb="md" icon={<OctagonX size={18} aria-hidden />}>
      {stops.map((stop) => (
        <Text key={stop.id} size="sm" className="wrap-anywhere">
          <b>Stopped: {inShort(targetOf(stop))}</b>, <Instant at={stop.stopped_at} relative />: {stop.reason}
        </Text>
      ))}
      {may('admin') && (
        <Anchor component={Link} href="/stops" size="sm" c="inherit" td="underline">
          Go to the stop switch
        </Anchor>
      )}
    </Alert>
  );
}
