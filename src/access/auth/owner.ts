import { Caller } from '../callers/caller';
import { isProven, Person } from '../people/person';
import { AuthenticatedCall } from './call';

/** The owner of calls: a client and, for a personal credential, its person. */
export interface Owner {
  clientId: string;
  /** Null for a shared credential, which owns the calls of all people of its client. */
  person: Pick<Person, 'id'> | null;
}

/** The recorded owner of a call. */
export interface CallOwner {
  clientId: string;
  /** Null if the client named no person. */
  personId: string | null;
}

export function ownerOf({ caller, person }: AuthenticatedCall): Owner {
  return { clientId: caller.clientId, person: person && isProven(person) ? person : null };
}

/** The requester in the record of a call. */
interface RecordedRequester {
  clientId: string;
  personId: string | null;
  actorSource: string | null;
}

/** Returns the owner of a recorded call: its client and, for a personal credential, its person. */
export function recordedOwner({ clientId, personId, actorSource }: RecordedRequester): Owner {
  const isOwnCredential = personId !== null && actorSource !== 'claimed';
  return { clientId, person: isOwnCredential ? { id: personId } : null };
}

/** Returns whether a call belongs to an owner. */
export function isOwn(call: CallOwner, { clientId, person }: Owner): boolean {
  return call.clientId === clientId && (person === null || call.personId === person.id);
}

/** Returns whether a caller reaches everything in the upstream account, regardless of the owner. */
export function reachesWholeAccount({ scopes }: Caller): boolean {
  return scopes.has('account');
}

/** A key's view of its own calls. */
export interface OwnView {
  owner: Owner;
  /** Whether people are unmasked. Requires the scope `read`: keys that can only pay are shared widely. */
  reveal: boolean;
}

export function ownView(call: AuthenticatedCall): OwnView {
  return { owner: ownerOf(call), reveal: !call.masked && call.caller.scopes.has('read') };
}
