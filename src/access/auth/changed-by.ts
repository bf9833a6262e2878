import { ChangeAuthor } from '../clients/changes';
import { authorOf, viaOf } from './author';
import { Call, isAuthenticated } from './call';

/** The author of a request without a credential. */
const NOBODY = { clientId: null, keyId: null, actor: null };

/** Returns the author of a change through the API, for its record. */
export function changedBy(call: Call, reason: string | undefined): ChangeAuthor {
  return {
    ...(isAuthenticated(call) ? authorOf(call) : NOBODY),
    via: viaOf(call),
    clientAddress: call.clientAddress,
    requestId: call.requestId,
    callId: call.id,
    reason: reason ?? null,
  };
}
