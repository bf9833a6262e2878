import { Outgoing } from '../upstream/upstream.service';
import { INTERFACE_PREFIX, methodOf, OperationName, pathOf, rowOf } from '../../operations/catalogue';
import { leavesNoTransaction } from '../../operations/effects';

/**
 * The request as it leaves: our own serialisation of what was validated, for what was not looked at does not travel.
 * @param input the validated body, or the validated query where the operation's input travels there.
 */
export function toOutgoing(operation: OperationName, input: object | undefined): Outgoing {
  const method = methodOf(operation);
  const row = rowOf(operation);
  const unlisted = leavesNoTransaction(operation) && { unlisted: true as const };
  const request = { operation, effect: row.effect, method, ...unlisted };
  const path = INTERFACE_PREFIX + pathOf(operation);
  if (row.input === 'body') return { ...request, path, body: Buffer.from(JSON.stringify(input)) };
  const query = new URLSearchParams({ ...input } as Record<string, string>).toString();
  // A POST that says all in its query has no body either: of a `{}` nobody could tell what it stands for.
  return { ...request, path: query ? `${path}?${query}` : path, body: null };
}
