import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { isPersonId } from '../clients/person';
import { CallPerson } from '../people/person';
import { PersonsService } from '../people/persons.service';
import { AuthenticatedCall, leftOf } from './call';

/**
 * Returns the person on whose behalf a caller asks. The credential of a person stands for that person, whatever the
 * caller sends.
 * @param isPayment whether admission decides about the request.
 * @throws Problem `invalid_actor`, because a lost name would let the same person request and approve.
 */
export async function onBehalfOf(
  call: AuthenticatedCall,
  persons: PersonsService,
  isPayment: boolean,
): Promise<CallPerson | null> {
  const { caller, claimedActor } = call;
  const named = caller.identity ?? claimed(claimedActor);
  if (!named) return null;
  const find = (name: { issuer: string | null; name: string }) =>
    persons.find(caller, name, { patienceMs: leftOf(call), isPayment }).catch(databaseUnavailable);
  const person = { ...(await find(named)), source: named.source };
  const { credential } = caller;
  const act = credential.kind === 'token' ? credential.claims.act : null;
  if (!act) return person;
  return { ...person, acting: await find({ issuer: act.issuer, name: act.subject }) };
}

function claimed(name: string | undefined) {
  if (name === undefined) return undefined;
  if (!isPersonId(name)) throw new Problem('invalid_actor');
  return { source: 'claimed', issuer: null, name } as const;
}
