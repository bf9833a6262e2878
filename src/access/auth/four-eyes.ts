import { Problem } from '../../platform/errors/problem';
import { authorOf, KeyAuthor } from './author';
import { AuthenticatedCall } from './call';

/** The requester of a call. */
export interface Asker {
  clientId: string;
  keyId: string;
  /** Whether a person made the request. */
  isPerson: boolean;
  /** The names of the person, for the client and in the console. An erased one is missing. */
  names: readonly string[];
}

/**
 * Requires that somebody else than the requester decides about a call: with another client and another key and, if a person
 * made the request, with the key of another person. Only the key identifies the decider.
 * @throws Problem `own_approval`.
 */
export function requireSomebodyElse(call: AuthenticatedCall, asked: Asker, text?: string): KeyAuthor {
  const { clientId, clientName, keyId, identity } = call.caller;
  const samePerson = asked.names.some((name) => name.toLowerCase() === identity?.name.toLowerCase());
  if (clientId === asked.clientId || keyId === asked.keyId || samePerson) {
    throw new Problem('own_approval', text === undefined ? {} : { text });
  }
  if (asked.isPerson && identity === null) {
    throw new Problem('own_approval', {
      text: `A person made this request, so another person must decide, with a personal key. ${needsPersonalKey(clientName)}`,
    });
  }
  return authorOf(call);
}

/** Explains how to get a personal key. */
export function needsPersonalKey(clientName: string): string {
  return `Your key is not a personal key, and X-Actor does not count. The operator can issue a personal key: keys issue --client ${clientName} --person ….`;
}
