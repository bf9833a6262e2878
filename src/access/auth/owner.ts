import { isOf, isProven, Person, RecordedPerson } from '../people/person';
import { AuthenticatedCall } from './call';
import { Caller } from '../callers/caller';

/** Whose calls count as a caller's own: those of its client and, if its credential is a person's, of that person. */
export interface Owner {
  clientId: string;
  /** Null if the credential belongs to nobody in particular. It then has the calls of every person of its client. */
  person: Pick<Person, 'id' | 'name'> | null;
}

/** Who made a call. */
export interface CallOwner extends RecordedPerson {
  clientId: string;
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

/** Returns the owner of a recorded call: its client and, if the credential was a person's, that person. */
export function recordedOwner({ clientId, personId, actorSource }: RecordedRequester): Owner {
  const isOwnCredential = personId !== null && actorSource !== 'claimed';
  return { clientId, person: isOwnCredential ? { id: personId, name: '' } : null };
}

/** Returns whether a call is an owner's own. */
export function isOwn(call: CallOwner, { clientId, person }: Owner): boolean {
  return call.clientId === clientId && (person === null || isOf(call, person));
}

/** Returns whether a caller reaches everything in the upstream account, whoever made it. */
export function reachesWholeAccount({ scopes }: Caller): boolean {
  return scopes.has('account');
}

/** What a key sees of its own calls. */
export interface OwnView {
  owner: Owner;
  /** Whether people are shown. Only keys with the scope `read` see them: a key that can just pay may be in many hands. */
  reveal: boolean;
}

export function ownView(call: AuthenticatedCall): OwnView {
  return { owner: ownerOf(call), reveal: !call.masked && call.caller.scopes.has('read') };
}
