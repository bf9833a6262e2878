import { Decimal } from 'decimal.js';
import { permissionsOf } from './changes';
import { GRANT_FIELDS, GRANT_KEYS, Grants } from './grants';
import { Limits, NO_LIMITS, toJson } from './limits';
import { ListedClient } from './listed';
import { NO_PROVIDERS, Providers } from './providers';

/** What a client may do, by the names of the API. */
export type Permissions = Record<string, unknown> & { scopes?: string[]; operations?: string[] | null };

/** Returns permissions by the names of the API, as JSON has them. */
export function toPermissions({ scopes, operations, ...others }: Partial<Grants>): Permissions {
  const given = GRANT_KEYS.filter((key) => others[key] !== undefined);
  const named = given.map((key) => [GRANT_FIELDS[key].name, toJson(others[key])]);
  return {
    ...(scopes !== undefined && { scopes: [...new Set(scopes)] }),
    ...(operations !== undefined && { operations }),
    ...(Object.fromEntries(named) as Permissions),
  };
}

/** Reads permissions by the names of the API. Other fields are left out. Null removes a limit. */
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

/** Returns everything that a client may do. */
export function grantsOf(client: ListedClient): Grants {
  const granted = fromPermissions(permissionsOf(client));
  return { ...NO_LIMITS, ...NO_PROVIDERS, scopes: [], operations: null, ...granted };
}
