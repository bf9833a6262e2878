import { Decimal } from 'decimal.js';
import { permissionsOf } from './changes';
import { GRANT_FIELDS, GRANT_KEYS, Grants } from './grants';
import { Limits, NO_LIMITS } from './limits';
import { ListedClient } from './listed';
import { NO_PROVIDERS, Providers } from './providers';

/** What a client may do, by the names of the API. */
export type Permissions = Record<string, unknown> & { scopes?: string[]; operations?: string[] | null };

/** Returns permissions by the names of the API, as JSON has them. */
export function toPermissions({ scopes, operations, ...others }: Partial<Grants>): Permissions {
  const named = GRANT_KEYS.filter((key) => others[key] !== undefined).map((key) => {
    const value = others[key];
    return [GRANT_FIELDS[key].name, value instanceof Decimal ? value.toFixed() : value];
  });
  return {
    ...(scopes !== undefined && { scopes: [...new Set(scopes)] }),
    ...(operations !== undefined && { operations }),
    ...(Object.fromEntries(named) as Permissions),
  };
}

/** Reads permissions by the names of the API. */
export function fromPermissions({ scopes, operations, ...named }: Permissions): Partial<Grants> {
  const others = GRANT_KEYS.filter((key) => named[GRANT_FIELDS[key].name] !== undefined).map((key) => {
    const { name, column } = GRANT_FIELDS[key];
    const value = named[name];
    return [key, column === 'numeric' && value !== null ? new Decimal(value as string) : value];
  });
  return {
    ...(scopes !== undefined && { scopes }),
    ...(operations !== undefined && { operations }),
    ...(Object.fromEntries(others) as Partial<Limits & Providers>),
  };
}

/** Returns everything that a client may do. */
export function grantsOf(client: ListedClient): Grants {
  const granted = fromPermissions(permissionsOf(client) as Permissions);
  return { ...NO_LIMITS, ...NO_PROVIDERS, scopes: [], operations: null, ...granted };
}
