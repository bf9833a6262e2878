import { OperationCall } from '../../access/auth/call';
import { Coverage, NewIntent } from '../../journal/records';
import { Item } from '../../operations/item';
import { Outgoing, TimedAnswer } from '../upstream/upstream.service';

/** A request as it will be sent, with the items that its record lists. */
export interface PreparedRequest {
  outgoing: Outgoing;
  items: Item[];
  /** Returns the answer as its caller may see it, which is also how it is recorded. Undefined if that is all of it. */
  shown?: (answer: TimedAnswer) => Promise<TimedAnswer>;
}

/**
 * Builds the intent that is recorded before the request is sent.
 * @param coverage the result of the check against the upstream's lists. Null if there is no list.
 */
export function newIntent(
  call: OperationCall,
  { outgoing, items }: PreparedRequest,
  coverage: Coverage | null,
): NewIntent {
  const [, query = null] = outgoing.path.split('?');
  const { id, requestId, traceparent, clientAddress, receivedAt, caller, actor, operation, causedBy } = call;
  // The fields are copied one by one, because spreading a call takes longer than everything else here.
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
