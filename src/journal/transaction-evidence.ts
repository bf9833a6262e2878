import { asRecorded, proseAsRecorded } from '../platform/privacy/recorded';
import { TransactionEvidence, UpstreamItem } from './records';

/** Returns a transaction of the upstream as records keep it: anything that looks like a contact is masked. */
export function evidenceOfTransaction(
  {
    upstreamRef,
    upstreamId,
    batchRef,
    status,
  }: Pick<UpstreamItem, 'upstreamRef' | 'upstreamId' | 'batchRef' | 'status'>,
  at: Date | null,
): TransactionEvidence {
  return {
    upstream_ref: asRecorded(upstreamRef),
    upstream_id: asRecorded(upstreamId),
    batch_ref: asRecorded(batchRef),
    at: at?.toISOString() ?? null,
    status: proseAsRecorded(status),
  };
}
