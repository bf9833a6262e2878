import { Problem } from '../errors/problem';
import { Call, Caller } from './call';

/** Who asked for a call. */
export interface Asker {
  clientId: string;
  keyId: string;
  actor: string | null;
}

/**
 * Who decides about a call, which must be somebody else than who asked for it: another client and another key. Where a person
 * asked, it must be the key of another person: `X-Actor` is what its sender likes to say, so it can speak against a
 * decision, but never for one, and is not recorded as who decided.
 * @throws Problem `own_approval`.
 */
export function requireSomebodyElse({ caller, actor }: Call, asked: Asker, text?: string): Asker {
  const { clientId, clientName, keyId, person } = caller as Caller; // the guard lets nobody in without a key
  const samePerson = actor !== null && actor.toLowerCase() === asked.actor?.toLowerCase();
  if (clientId === asked.clientId || keyId === asked.keyId || samePerson) {
    throw new Problem('own_approval', text === undefined ? {} : { text });
  }
  if (asked.actor !== null && person === null) {
    throw new Problem('own_approval', {
      text: `A person asked for this, so another person has to decide, with a key of their own; this key is nobody's, and X-Actor does not count. The operator issues one: keys issue --client ${clientName} --person …`,
    });
  }
  return { clientId, keyId, actor: person };
}
