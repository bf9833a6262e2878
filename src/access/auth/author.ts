import { isEndUser } from '../people/person';
import { AuthenticatedCall, Call } from './call';

/** Who did something: a client, its key, and the owner of the key. */
export interface Author {
  clientId: string;
  keyId: string;
  /** The owner of the key. Null if it belongs to nobody in particular. */
  actor: string | null;
}

/**
 * Returns who did something, for its record. The header `X-Actor` is a claim that anybody can make, so it names neither who
 * decided nor who changed something. End users are named by their IDs, because the record cannot be erased.
 */
export function authorOf({ caller, person }: AuthenticatedCall): Author {
  const { clientId, keyId, identity } = caller;
  const actor = identity && person && isEndUser(person) ? person.id : (identity?.name ?? null);
  return { clientId, keyId, actor };
}

/** Returns whether a request came from the console, which is signed in by a cookie. */
export function viaOf({ sessionToken }: Pick<Call, 'sessionToken'>): 'api' | 'console' {
  return sessionToken === undefined ? 'api' : 'console';
}
