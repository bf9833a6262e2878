import {
  INTERFACE_PREFIX,
  methodOf,
  OperationName,
  pathOf,
  rowOf,
} from '../../../operations/catalogue/catalogue';
import { leavesNoTransaction } from '../../../operations/items/effects';
import { AccountFunds } from '../../../platform/config/upstream/upstream-accounts';
import { RequestKind } from '../answers/answer';

/** A request: the path below the base address, and the bytes. Only reads are repeated. */
export interface OutgoingRequest extends RequestKind {
  /** Name of its account. */
  account: string;
  operation: string;
  method: 'GET' | 'POST';
  path: string;
  body: Buffer | null;
}

/** The account of a request. */
interface RequestAccount {
  name: string;
  funds: Pick<AccountFunds, 'subAccount'>;
}

/**
 * Builds the request to send. Serialises only validated fields, so no other field reaches the upstream.
 * @param account the account of the request. Its sub-account becomes part of the input.
 * @param input the validated body, or the validated query if the operation sends its input there.
 */
export function toOutgoing(
  { name: account, funds: { subAccount } }: RequestAccount,
  operation: OperationName,
  input: object | undefined,
): OutgoingRequest {
  const sent = subAccount === undefined ? input : { ...input, subAccount };
  const request = headOf(account, operation);
  const path = INTERFACE_PREFIX + pathOf(operation);
  if (rowOf(operation).input === 'body') return { path, body: Buffer.from(JSON.stringify(sent)), ...request };
  const query = new URLSearchParams({ ...sent } as Record<string, string>).toString();
  // A POST with its input in the query has no body, because the meaning of `{}` would be unclear.
  return { path: query ? `${path}?${query}` : path, body: null, ...request };
}

/** Returns the part of a request that does not depend on its input. */
export function headOf(account: string, operation: OperationName): Omit<OutgoingRequest, 'path' | 'body'> {
  const unlisted = leavesNoTransaction(operation) && { unlisted: true as const };
  return { account, operation, effect: rowOf(operation).effect, method: methodOf(operation), ...unlisted };
}

/** Builds the request for all transactions of an account, without paging (docs/reference/upstream.md). */
export function listingRequest(account: RequestAccount): OutgoingRequest & { effect: 'read' } {
  return { ...toOutgoing(account, 'POST /account/transactions', {}), effect: 'read' };
}

/** Builds the request for the transactions of one batch. */
export function batchRequest(account: RequestAccount, batchRef: string): OutgoingRequest {
  return toOutgoing(account, 'POST /account/issue-id-transactions', { issueID: batchRef });
}

/** Builds the request for one transaction. */
export function transactionRequest(account: RequestAccount, upstreamId: string): OutgoingRequest {
  return toOutgoing(account, 'GET /account/transaction', { id: upstreamId });
}

/** The smallest amount seen (docs/reference/upstream.md, trap 3). The link is never paid. */
const PROBE_USD = 0.1;

/** Returns the body of `POST /payouts/initiate-credit` for an unpaid link. */
export function unpaidLinkFor(email: string): object {
  return { credits: [{ valueInUSD: PROBE_USD, email, twitter: '' }] };
}

/** Returns the body of `POST /account/delete-unpaid-transaction`. */
export function deletionOf(upstreamRef: string): object {
  return { chiRef: upstreamRef };
}
