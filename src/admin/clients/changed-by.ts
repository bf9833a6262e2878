import { AuthenticatedCall } from '../../access/auth/call';
import { ChangeAuthor } from '../../access/clients/changes';

/** Who makes a change through the API, as its record says it. */
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
