import { AuthenticatedCall, Caller } from './call';

/** Whose calls count as a caller's own: those of its client and, if its key names a person, of that person. */
export interface Owner {
  clientId: string;
  /** Null if the key belongs to nobody in particular. It then has the calls of every person of its client. */
  person: string | null;
}

export function ownerOf({ clientId, person }: Caller): Owner {
  return { clientId, person };
}

/** Returns whether a call is an owner's own. @param made its client, and the person behind it. */
export function isOwn(made: Owner, owner: Owner): boolean {
  return made.clientId === owner.clientId && (owner.person === null || made.person === owner.person);
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

export function ownView({ caller, masked }: AuthenticatedCall): OwnView {
  return { owner: ownerOf(caller), reveal: !masked && caller.scopes.has('read') };
}
