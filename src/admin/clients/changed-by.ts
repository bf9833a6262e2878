import { AuthenticatedCall } from '../../access/auth/call';
import { ChangeAuthor } from '../../access/clients/changes';

/** Returns the author of a change through the API, for its record. */
export function changedBy(call: AuthenticatedCall, reason: string | undefined): ChangeAuthor {
  const { clientId, keyId } = call.caller;
  return {
    via: call.sessionToken === undefined ? 'api' : 'console',
    clientId,
    keyId,
    actor: call.actor,
    clientAddress: call.clientAddress,
    requestId: call.requestId,
    callId: call.id,
    reason: reason ?? null,
  };
}
