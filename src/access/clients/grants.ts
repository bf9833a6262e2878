import { Decimal } from 'decimal.js';
import { isScope, SCOPES } from '../../operations/catalogue/scopes';
import { Prisma } from '../../platform/database/generated/client';
import { faultForCaller } from '../../platform/errors/problem-body';
import { unknownCountries } from '../../recipients/unknown-countries';
import { permissionsOf } from './changes';
import { ClientError } from './client-error';
import { LIMIT_FIELDS } from './limits/limit-fields';
import { Limits, NO_LIMITS, toJson } from './limits/limits';
import { ListedClient } from './listed';
import { NO_PROVIDERS, PROVIDER_FIELDS, Providers } from './providers';

/** The permissions of a client. */
export interface Grants extends Limits, Providers {
  scopes: string[];
  /** Names of allowed operations, checked by the caller. Null allows all. */
  operations: string[] | null;
}

/** The permissions other than scopes and operations. */
const GRANT_FIELDS = { ...LIMIT_FIELDS, ...PROVIDER_FIELDS };
const GRANT_KEYS = Object.keys(GRANT_FIELDS) as (keyof typeof GRANT_FIELDS)[];

/** @throws ClientError for a client without rights, unknown names, invalid limits or unknown countries. */
export function checkGrants({ scopes, operations, ...others }: Partial<Grants>): void {
  const unknown = scopes?.filter((scope) => !isScope(scope)) ?? [];
  if (unknown.length > 0 || scopes?.length === 0) {
    throw new ClientError(
      `unknown scopes: ${unknown.join(', ') || '(none given)'}. The scopes are ${SCOPES.join(', ')}.`,
    );
  }
  if (operations?.length === 0) {
    throw new ClientError(
      'a client must be allowed at least one operation. To shut it out, revoke its keys with keys revoke.',
    );
  }
  const wrong = GRANT_KEYS.filter((key) => others[key] !== undefined && others[key] !== null)
    .map((key) => ({ ...GRANT_FIELDS[key], value: others[key] }))
    .filter(({ test, value }) => !test(value));
  if (wrong.length > 0) throw new ClientError(wrong.map(({ name, must }) => `${name} ${must}`).join('; '));
  requireKnown(others.countries ?? []);
}

/** @throws ClientError for an unknown country. */
function requireKnown(countries: string[]): void {
  const faults = unknownCountries(countries);
  if (faults.length === 0) return;
  const texts = faults.map(faultForCaller).map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`);
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

/** The permissions of a client, by their names in the API. */
export type Permissions = Record<string, unknown> & { scopes?: string[]; operations?: string[] | null };

/** Returns permissions as JSON, by their names in the API. */
export function toPermissions({ scopes, operations, ...others }: Partial<Grants>): Permissions {
  const entries = GRANT_KEYS.filter((key) => others[key] !== undefined).map((key) => [
    GRANT_FIELDS[key].name,
    toJson(others[key]),
  ]);
  return {
    ...(scopes !== undefined && { scopes: [...new Set(scopes)] }),
    ...(operations !== undefined && { operations }),
    ...(Object.fromEntries(entries) as Permissions),
  };
}

/** Reads permissions by their names in the API. Ignores other fields. Null removes a limit. */
export function fromPermissions(permissions: object): Partial<Grants> {
  const { scopes, operations, ...named } = permissions as Permissions;
  const others = GRANT_KEYS.filter((key) => named[GRANT_FIELDS[key].name] !== undefined).map((key) => {
    const { name, column } = GRANT_FIELDS[key];
    const value = named[name];
    if (value === null) return [key, column === 'text[]' ? [] : null];
    return [key, column === 'numeric' ? new Decimal(value as Decimal.Value) : value];
  });
  return {
    ...(scopes !== undefined && { scopes }),
    ...(operations !== undefined && { operations }),
    ...(Object.fromEntries(others) as Partial<Limits & Providers>),
  };
}

/** Returns all permissions of a client. */
export function grantsOf(client: ListedClient): Grants {
  const granted = fromPermissions(permissionsOf(client));
  return { ...NO_LIMITS, ...NO_PROVIDERS, scopes: [], operations: null, ...granted };
}
