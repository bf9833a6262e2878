import {
  INTERFACE_PREFIX,
  methodOf,
  OperationName,
  pathOf,
  rowOf,
} from '../../../operations/catalogue/catalogue';
import { leavesNoTransaction } from '../../../operations/items/effects';
import { Outgoing, UpstreamAccount } from '../upstream-account';

/**
 * Builds the request to send. Serialises only validated fields, so no other field reaches the upstream.
 * @param account the account of the request. Its sub-account becomes part of the input.
 * @param input the validated body, or the validated query if the operation sends its input there.
 */
export function toOutgoing(
  { name: account, funds: { subAccount } }: Pick<UpstreamAccount, 'name' | 'funds'>,
  operation: OperationName,
  input: object | undefined,
): Outgoing {
  const method = methodOf(operation);
  const row = rowOf(operation);
  const unlisted = leavesNoTransaction(operation) && { unlisted: true as const };
  const sent = subAccount === undefined ? input : { ...input, subAccount };
  const request = { account, operation, effect: row.effect, method, ...unlisted };
  const path = INTERFACE_PREFIX + pathOf(operation);
  if (row.input === 'body') return { path, body: Buffer.from(JSON.stringify(sent)), ...request };
  const query = new URLSearchParams({ ...sent } as Record<string, string>).toString();
  // A POST whose input is in the query has no body either, because the meaning of `{}` would be unclear.
  return { path: query ? `${path}?${query}` : path, body: null, ...request };
}
