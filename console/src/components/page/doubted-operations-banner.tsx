import { lazy, Suspense } from 'react';
import { api } from '../../api/client';
import { useSession } from '../../api/session';

const FalseRejections = lazy(() => import('./false-rejections'));

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
    <Suspense fallback={null}>
      <FalseRejections operations={operations} />
    </Suspense>
  );
}
