import { OperationCall } from '../../access/auth/call';
import { NewIntent } from '../../journal/records/records';
import { Item } from '../../operations/items/item';
import { Outgoing, TimedAnswer } from '../upstream/upstream-account';

/** A request as it will be sent, with the items that its record lists. */
export interface PreparedRequest {
  outgoing: Outgoing;
  items: Item[];
  /** Returns the answer as its caller may see it, which is also how it is recorded. Undefined if that is all of it. */
  shown?: (answer: TimedAnswer) => Promise<TimedAnswer>;
}

/** A read pays nobody. */
const UNCHECKED = { coverage: null, screening: null };

/**
 * Builds the intent that is recorded before the request is sent.
 * @param checks the results of the check against the upstream's lists, and of the screening.
 */
export function newIntent(
  call: OperationCall,
  { outgoing, items }: PreparedRequest,
  { coverage, screening }: Pick<NewIntent, 'coverage' | 'screening'> = UNCHECKED,
): NewIntent {
  const [, query = null] = outgoing.path.split('?');
  const { id, requestId, traceparent, clientAddress, receivedAt, caller, person, operation, causedBy } = call;
  // The fields are copied one by one, because spreading a call takes longer than everything else here.
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
    causedBy,
  };
}
