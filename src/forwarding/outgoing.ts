import { Outgoing } from '../upstream/upstream.service';
import { INTERFACE_PREFIX, methodOf, OperationName, pathOf } from './operations';

/** Our own serialisation of what was validated: what was not looked at does not travel. */
export function toOutgoing(operation: OperationName, input: object | undefined): Outgoing {
  const path = INTERFACE_PREFIX + pathOf(operation);
  if (methodOf(operation) === 'POST') return { method: 'POST', path, body: Buffer.from(JSON.stringify(input)) };
  const query = new URLSearchParams({ ...input } as Record<string, string>).toString();
  return { method: 'GET', path: query ? `${path}?${query}` : path, body: null };
}
