import { OperationCall } from '../../access/auth/call';
import { Coverage, NewIntent } from '../../journal/records';
import { Item } from '../../operations/item';
import { Outgoing } from '../upstream/upstream.service';

/** A request as it will leave, with the items that its record lists. */
export interface PreparedRequest {
  outgoing: Outgoing;
  items: Item[];
}

/**
 * The intent that is recorded before the request is sent.
 * @param coverage what the upstream's lists say of its items; null where there is nothing to look up.
 */
export function newIntent(
  call: OperationCall,
  { outgoing, items }: PreparedRequest,
  coverage: Coverage | null,
): NewIntent {
  const [, query = null] = outgoing.path.split('?');
  const { id, requestId, traceparent, clientAddress, receivedAt, caller, actor, operation, causedBy } = call;
  // Named one by one: to spread a call takes longer than all else that is done here.
  return {
    id,
    requestId,
    traceparent,
    clientAddress,
    receivedAt,
    caller,
    actor,
    operation,
    query,
    body: outgoing.body,
    items,
    coverage,
    causedBy,
  };
}
