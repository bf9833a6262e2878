import { OperationCall } from '../../access/auth/call';
import { NewIntent } from '../../journal/records/records';
import { Item } from '../../operations/items/item';
import { OutgoingRequest } from '../upstream/transport/outgoing';
import { TimedAnswer } from '../upstream/upstream-account';

/** A request in the form to send, with the items of its record. */
export interface PreparedRequest {
  outgoing: OutgoingRequest;
  items: Item[];
  /** Returns the part of the answer for its caller and the record. Undefined for the whole answer. */
  shown?: (answer: TimedAnswer) => Promise<TimedAnswer>;
}

type Checks = Pick<NewIntent, 'coverage' | 'screening' | 'respondAsync'>;

/** A read pays no recipient. */
const UNCHECKED = { coverage: null, screening: null };

/**
 * Builds the intent to record before sending.
 * @param checks results of the coverage check and the screening, and whether the call is queued.
 */
export function newIntent(
  call: OperationCall,
  { outgoing, items }: PreparedRequest,
  { coverage, screening, respondAsync }: Checks = UNCHECKED,
): NewIntent {
  const [, query = null] = outgoing.path.split('?');
  const { id, requestId, traceparent, clientAddress, receivedAt, caller, person, operation, causedBy } = call;
  // Copies the fields one by one: spreading a call would take longer than everything else here.
  return {
    id,
    requestId,
    traceparent,
    clientAddress,
    receivedAt,
    caller,
    person,
    operation,
    query,
    body: outgoing.body,
    items,
    coverage,
    screening,
    respondAsync,
    causedBy,
  };
}
