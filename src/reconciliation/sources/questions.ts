import { Outgoing } from '../../gateway/upstream/upstream.service';

type Question = Outgoing & { effect: 'read' };

const PREFIX = '/api/v0.1';

/** All transactions, in one answer: no paging was ever seen (upstream-observed.md). */
export const ALL_TRANSACTIONS: Question = {
  operation: 'POST /account/transactions',
  effect: 'read',
  method: 'POST',
  path: `${PREFIX}/account/transactions`,
  body: Buffer.from('{}'),
};

export const WALLETS: Question = {
  operation: 'GET /wallets/list',
  effect: 'read',
  method: 'GET',
  path: `${PREFIX}/wallets/list`,
  body: null,
};

/** The transactions of one batch. */
export function issueQuestion(batchRef: string): Question {
  const path = `${PREFIX}/account/issue-id-transactions?issueID=${encodeURIComponent(batchRef)}`;
  return { operation: 'POST /account/issue-id-transactions', effect: 'read', method: 'POST', path, body: null };
}

export function transactionQuestion(id: string): Question {
  const path = `${PREFIX}/account/transaction?id=${encodeURIComponent(id)}`;
  return { operation: 'GET /account/transaction', effect: 'read', method: 'GET', path, body: null };
}
