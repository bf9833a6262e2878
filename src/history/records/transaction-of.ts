import { TransactionDocument } from '../../journal/documents';
import { LedgerItem } from '../../journal/ledger';

/**
 * Returns the transaction of a payout, as it was seen last.
 * @param answered the transaction in the answer. Its amount stays, because a transaction never changes its amount.
 */
export function transactionOf(
  answered: TransactionDocument | undefined,
  payout: LedgerItem | undefined,
): TransactionDocument | undefined {
  if (!payout?.transaction) return answered;
  const { upstream_ref, upstream_id, batch_ref, status } = payout.transaction;
  return {
    amount_usd: answered ? answered.amount_usd : payout.amountUsd?.toFixed(),
    batch_ref: batch_ref ?? undefined,
    fee_usd: answered?.fee_usd,
    payout_error: answered?.payout_error,
    payout_status: answered?.payout_status,
    position: answered?.position,
    status: status ?? undefined,
    upstream_id: upstream_id ?? undefined,
    upstream_ref: upstream_ref ?? undefined,
  };
}
