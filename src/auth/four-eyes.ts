import { Problem } from '../errors/problem';
import { Call, Caller } from './call';

/** Who asked for a call. */
export interface Asker {
  clientId: string;
  keyId: string;
  actor: string | null;
}

/**
 * Who decides about a call, which must be somebody else than who asked for it: another client, another key and, where both
 * say who they are, another person.
 * @throws Problem `own_approval`.
 */
export function requireSomebodyElse({ caller, actor }: Call, asked: Asker, text?: string): Asker {
  const { clientId, keyId } = caller as Caller; // the guard lets nobody in without a key
  const samePerson = actor !== null && actor.toLowerCase() === asked.actor?.toLowerCase();
  if (clientId === asked.clientId || keyId === asked.keyId || samePerson) {
    throw new Problem('own_approval', text === undefined ? {} : { text });
  }
  return { clientId, keyId, actor };
}
