import { Outgoing, UpstreamAccount } from '../upstream-account';
import { toOutgoing } from './outgoing';

/** All transactions of an account, in one answer. Paging was never seen (docs/reference/upstream.md). */
export function listingRequest(account: UpstreamAccount): Outgoing & { effect: 'read' } {
  return { ...toOutgoing(account, 'POST /account/transactions', {}), effect: 'read' };
}

/** The transactions of one batch. */
export function batchRequest(account: UpstreamAccount, batchRef: string): Outgoing {
  return toOutgoing(account, 'POST /account/issue-id-transactions', { issueID: batchRef });
}

/** One transaction. */
export function transactionRequest(account: UpstreamAccount, upstreamId: string): Outgoing {
  return toOutgoing(account, 'GET /account/transaction', { id: upstreamId });
}
