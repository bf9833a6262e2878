import { Problem } from '../../platform/errors/problem';
import { AuthenticatedCall } from './call';

/** The requester of a call. */
export interface Asker {
  clientId: string;
  keyId: string;
  /** The person who owned the key, or whom the app named. */
  actor: string | null;
}

/**
 * Requires that somebody else than the requester decides about a call: with another client and another key and, if a person
 * made the request, with the key of another person. Only the key identifies the decider. The decider's `X-Actor` is a claim
 * that anybody can make, so it is neither compared nor recorded.
 * @throws Problem `own_approval`.
 */
export function requireSomebodyElse({ caller }: AuthenticatedCall, asked: Asker, text?: string): Asker {
  const { clientId, clientName, keyId, person } = caller;
  const samePerson = person !== null && person.toLowerCase() === asked.actor?.toLowerCase();
  if (clientId === asked.clientId || keyId === asked.keyId || samePerson) {
    throw new Problem('own_approval', text === undefined ? {} : { text });
  }
  if (asked.actor !== null && person === null) {
    throw new Problem('own_approval', {
      text: `A person made this request, so another person must decide, with a personal key. ${needsPersonalKey(clientName)}`,
    });
  }
  return { clientId, keyId, actor: person };
}

/** Explains how to get a personal key. */
export function needsPersonalKey(clientName: string): string {
  return `Your key is not a personal key, and X-Actor does not count. The operator can issue a personal key: keys issue --client ${clientName} --person ….`;
}
