import { asRecorded } from '../../platform/privacy/recorded';
import { Origin } from './records';

/** Returns the recorded claims of a request's access token. Undefined for another credential. */
export function tokenDocument({ caller: { credential }, person }: Pick<Origin, 'caller' | 'person'>) {
  if (credential.kind !== 'token') return undefined;
  const { authTime, id, jkt } = credential.claims;
  return {
    act: person?.acting ? actorDocument(person.acting) : undefined,
    // When the person signed in.
    auth_time: authTime === null ? undefined : new Date(authTime * 1_000).toISOString(),
    jkt: jkt ?? undefined, // Thumbprint of the app's key.
    jti: asRecorded(id) ?? undefined,
  };
}

/** Returns the recorded facts of a request's page session. Undefined for another credential. */
export function sessionDocument({ caller: { credential } }: Pick<Origin, 'caller'>) {
  if (credential.kind !== 'session') return undefined;
  return {
    auth_time: credential.signedInAt?.toISOString(), // When the person signed in.
    id: credential.id,
  };
}

/** Returns the recorded claims of a refused request's token or session. Null for a key. */
export function credentialDocument(origin: Pick<Origin, 'caller' | 'person'>) {
  const { kind } = origin.caller.credential;
  if (kind === 'token') return { token: tokenDocument(origin) };
  return kind === 'session' ? { session: sessionDocument(origin) } : null;
}

/** The person who acted for the person of the request (RFC 8693). */
function actorDocument({ id, commitment }: { id: string; commitment: Buffer }) {
  return { commitment: commitment.toString('hex'), person_id: id };
}
