import { INTERFACE_PREFIX } from '../../operations/catalogue';
import { Outgoing } from './upstream.service';

/** A read of the upstream's own records that the proxy makes by itself. */
type Question = Outgoing & { effect: 'read' };

/** All transactions, in one answer. Paging was never seen (docs/reference/upstream.md). */
export const ALL_TRANSACTIONS: Question = {
  operation: 'POST /account/transactions',
  effect: 'read',
  method: 'POST',
  path: `${INTERFACE_PREFIX}/account/transactions`,
  body: Buffer.from('{}'),
};

export const WALLETS: Question = {
  operation: 'GET /wallets/list',
  effect: 'read',
  method: 'GET',
  path: `${INTERFACE_PREFIX}/wallets/list`,
  body: null,
};

/** The transactions of one batch. */
export function batchQuestion(batchRef: string): Question {
  const path = `${INTERFACE_PREFIX}/account/issue-id-transactions?issueID=${encodeURIComponent(batchRef)}`;
  return { operation: 'POST /account/issue-id-transactions', effect: 'read', method: 'POST', path, body: null };
}

/** One transaction. */
export function transactionQuestion(upstreamId: string): Question {
  const path = `${INTERFACE_PREFIX}/account/transaction?id=${encodeURIComponent(upstreamId)}`;
  return { operation: 'GET /account/transaction', effect: 'read', method: 'GET', path, body: null };
}
