import { Outgoing } from '../upstream/upstream.service';
import { INTERFACE_PREFIX, methodOf, OperationName, pathOf, rowOf } from '../../operations/catalogue';
import { leavesNoTransaction } from '../../operations/effects';

/**
 * Builds the request to send. It serialises only validated fields, so that no other field reaches the upstream.
 * @param input the validated body, or the validated query if the operation sends its input there.
 */
export function toOutgoing(operation: OperationName, input: object | undefined): Outgoing {
  const method = methodOf(operation);
  const row = rowOf(operation);
  const unlisted = leavesNoTransaction(operation) && { unlisted: true as const };
  const request = { operation, effect: row.effect, method, ...unlisted };
  const path = INTERFACE_PREFIX + pathOf(operation);
  if (row.input === 'body') return { path, body: Buffer.from(JSON.stringify(input)), ...request };
  const query = new URLSearchParams({ ...input } as Record<string, string>).toString();
  // A POST whose input is in the query has no body either, because the meaning of `{}` would be unclear.
  return { path: query ? `${path}?${query}` : path, body: null, ...request };
}
