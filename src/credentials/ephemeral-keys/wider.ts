import { Decimal } from 'decimal.js';
import { missingScopes, operationProblem } from '../../access/auth/route-access';
import { AuthenticatedCall } from '../../access/auth/call';
import { ownerOf } from '../../access/auth/owner';
import { Caller } from '../../access/callers/caller';
import { readUsd } from '../../access/clients/limit-fields';
import { Person } from '../../access/people/person';
import { isOperation, scopesOf } from '../../operations/catalogue';
import { Fault } from '../../platform/errors/problem';
import { canonicalCountry } from '../../recipients/country-name';
import { NewEphemeralKeyDto } from './ephemeral-keys.dto';

/** Lists everything that a new ephemeral key would be allowed, but the key that makes it or its person is not. */
export function whereWider(
  call: AuthenticatedCall,
  person: Person,
  { operations, countries = [], max_item }: NewEphemeralKeyDto,
): Fault[] {
  const { caller } = call;
  const owner = ownerOf(call).person;
  const other = owner !== null && owner.id !== person.id;
  return [
    ...(other ? [{ pointer: '/actor', detail: 'must be the owner of your key, because the key is personal' }] : []),
    ...operations.flatMap((operation, place) => faultOf(`/operations/${place}`, reasonAgainst(caller, operation))),
    ...countriesNotAllowed(caller, countries),
    ...faultOf('/max_item', overMaxItem(caller, person, readUsd(max_item))),
  ];
}

/** Returns the countries as the client's own list spells them, so that they are found there later. */
export function asListed(listed: string[], countries: string[]): string[] {
  const spellings = new Map(listed.map((country) => [canonicalCountry(country), country]));
  return [...new Set(countries.map((country) => spellings.get(canonicalCountry(country)) ?? country))];
}

function reasonAgainst(caller: Caller, operation: string): string | undefined {
  const notAllowed = 'must be an operation that your client may use';
  if (!isOperation(operation)) return notAllowed;
  if (scopesOf(operation).includes('account')) return 'reaches the whole upstream account, which no ephemeral key may';
  const missing = missingScopes(caller, operation).join(' and ');
  if (missing) return `requires the scope ${missing}, which your key does not have`;
  return operationProblem(caller, operation) && notAllowed;
}

function countriesNotAllowed({ limits }: Caller, countries: string[]): Fault[] {
  if (limits.countries.length === 0) return [];
  const allowed = new Set(limits.countries.map(canonicalCountry));
  const detail = `must be a country that your client may pay to: ${limits.countries.join(', ')}`;
  return countries.flatMap((country, place) =>
    allowed.has(canonicalCountry(country)) ? [] : [{ pointer: `/countries/${place}`, detail }],
  );
}

function overMaxItem({ limits }: Caller, person: Person, maxItem: Decimal | undefined): string | undefined {
  const [ofClient, ofPerson] = [limits.maxItemUsd, person.limits.personMaxItemUsd];
  if (ofClient && maxItem?.greaterThan(ofClient))
    return `must be at most ${ofClient.toFixed()}, as for one item of your client`;
  return ofPerson && maxItem?.greaterThan(ofPerson)
    ? `must be at most ${ofPerson.toFixed()}, as for one item of this person`
    : undefined;
}

function faultOf(pointer: string, detail: string | undefined): Fault[] {
  return detail === undefined ? [] : [{ pointer, detail }];
}
