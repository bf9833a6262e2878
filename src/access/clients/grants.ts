import { Prisma } from '../../platform/database/generated/client';
import { toldFault } from '../../platform/errors/problem-body';
import { isScope, SCOPES } from '../../operations/scopes';
import { unknownCountries } from '../../recipients/unknown-countries';
import { ClientError } from './client-error';
import { LIMIT_FIELDS } from './limit-fields';
import { Limits, toJson } from './limits';
import { PROVIDER_FIELDS, Providers } from './providers';

/** The permissions of a client. */
export interface Grants extends Limits, Providers {
  scopes: string[];
  /** Names of the interface's operations. Null for all of them. The caller has checked the names. */
  operations: string[] | null;
}

/** The permissions other than scopes and operations. */
export const GRANT_FIELDS = { ...LIMIT_FIELDS, ...PROVIDER_FIELDS };
export const GRANT_KEYS = Object.keys(GRANT_FIELDS) as (keyof typeof GRANT_FIELDS)[];

/** @throws ClientError for a client that could do nothing, for unknown names, for invalid limits, and for unknown countries. */
export function checkGrants({ scopes, operations, ...others }: Partial<Grants>): void {
  const unknown = scopes?.filter((scope) => !isScope(scope)) ?? [];
  if (unknown.length > 0 || scopes?.length === 0) {
    throw new ClientError(
      `unknown scopes: ${unknown.join(', ') || '(none given)'}. The scopes are ${SCOPES.join(', ')}.`,
    );
  }
  if (operations?.length === 0) {
    throw new ClientError(
      'a client must be allowed at least one operation. To shut a client out, revoke its keys with keys revoke.',
    );
  }
  const wrong = GRANT_KEYS.filter((key) => others[key] !== undefined && others[key] !== null)
    .map((key) => ({ ...GRANT_FIELDS[key], value: others[key] }))
    .filter(({ test, value }) => !test(value));
  if (wrong.length > 0) throw new ClientError(wrong.map(({ name, must }) => `${name} ${must}`).join('; '));
  requireKnown(others.countries ?? []);
}

/** @throws ClientError for a country that is not known. */
function requireKnown(countries: string[]): void {
  const faults = unknownCountries(countries);
  if (faults.length === 0) return;
  const texts = faults.map(toldFault).map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`);
  throw new ClientError(texts.join('; '), undefined, faults);
}

/** Returns `column = value` for all given fields. */
export function toAssignments({ scopes, operations, ...others }: Partial<Grants>): Prisma.Sql[] {
  const ofOthers = GRANT_KEYS.filter((key) => others[key] !== undefined).map((key) => {
    const { name, column } = GRANT_FIELDS[key];
    return Prisma.sql`${Prisma.raw(name)} = ${toJson(others[key])}::${Prisma.raw(column)}`;
  });
  return [
    ...(scopes === undefined ? [] : [Prisma.sql`scopes = ${[...new Set(scopes)]}::text[]`]),
    ...(operations === undefined ? [] : [Prisma.sql`operations = ${operations}::text[]`]),
    ...ofOthers,
  ];
}
