import { ChangeAuthor } from '../clients/changes';
import { authorOf, viaOf } from './author';
import { AuthenticatedCall } from './call';

/** Returns the author of a change through the API, for its record. */
export function changedBy(call: AuthenticatedCall, reason: string | undefined): ChangeAuthor {
  return {
    ...authorOf(call),
    via: viaOf(call),
    clientAddress: call.clientAddress,
    requestId: call.requestId,
    callId: call.id,
    reason: reason ?? null,
  };
}
