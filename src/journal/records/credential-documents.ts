import { asRecorded } from '../../platform/privacy/recorded';
import { Origin } from './records';

/**
 * Returns what a record says of the access token of its request, and nothing that opens anything. Undefined if the request came
 * with something else.
 */
export function tokenDocument({ caller: { credential }, person }: Pick<Origin, 'caller' | 'person'>) {
  if (credential.kind !== 'token') return undefined;
  const { authTime, id, jkt } = credential.claims;
  return {
    act: person?.acting ? actorDocument(person.acting) : undefined,
    auth_time: authTime === null ? undefined : new Date(authTime * 1_000).toISOString(), // when the person signed in
    jkt: jkt ?? undefined, // the thumbprint of the app's key
    jti: asRecorded(id) ?? undefined,
  };
}

/** Returns what a record says of the page session of its request. Undefined if the request came with something else. */
export function sessionDocument({ caller: { credential } }: Pick<Origin, 'caller'>) {
  if (credential.kind !== 'session') return undefined;
  return {
    auth_time: credential.signedInAt?.toISOString(), // when the person signed in
    id: credential.id,
  };
}

/** Returns what the record of a refused request says of its token or session. Null if the request came with a key. */
export function credentialDocument(origin: Pick<Origin, 'caller' | 'person'>) {
  const { kind } = origin.caller.credential;
  if (kind === 'token') return { token: tokenDocument(origin) };
  return kind === 'session' ? { session: sessionDocument(origin) } : null;
}

/** The person who acted for the person of the request (RFC 8693). */
function actorDocument({ id, commitment }: { id: string; commitment: Buffer }) {
  return { commitment: commitment.toString('hex'), person_id: id };
}
