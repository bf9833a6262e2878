import { Problem } from '../../platform/errors/problem';
import { AuthenticatedCall } from './call';

/** Who asked for a call. */
export interface Asker {
  clientId: string;
  keyId: string;
  /** The person whose key it was, or whom the asking app named. */
  actor: string | null;
}

/**
 * Requires that a decision about a call is made by somebody else than who asked for it: with another client and another key
 * and, where a person asked, with the key of another person. Only keys count for who decides. `X-Actor` of who decides is a
 * claim that anybody can make, so it is neither compared nor recorded as who decided.
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
      text: `A person asked for this, so another person has to decide, with a key of their own. ${needsPersonalKey(clientName)}`,
    });
  }
  return { clientId, keyId, actor: person };
}

/** How to get a key that says who decides. */
export function needsPersonalKey(clientName: string): string {
  return `This key belongs to no person, and X-Actor does not count. The operator issues one that does: keys issue --client ${clientName} --person ….`;
}
