import { AuthenticatedCall } from '../../access/auth/call';
import { ChangeAuthor } from '../../access/clients/changes';

/**
 * Returns the author of a change through the API, for its record. The person is the owner of the key. The header `X-Actor`
 * is a claim of its sender, so it never names who changed something.
 */
export function changedBy(call: AuthenticatedCall, reason: string | undefined): ChangeAuthor {
  const { clientId, keyId, person } = call.caller;
  return {
    via: call.sessionToken === undefined ? 'api' : 'console',
    clientId,
    keyId,
    actor: person,
    clientAddress: call.clientAddress,
    requestId: call.requestId,
    callId: call.id,
    reason: reason ?? null,
  };
}
