import { Decimal } from 'decimal.js';
import { permissionsOf } from '../clients/changes';
import { ClientKind } from '../clients/client-kind';
import { Holder, KeyRow } from '../clients/client-writes';
import { Grants } from '../clients/grants';
import { LIMIT_FIELDS, LIMIT_KEYS } from '../clients/limit-fields';
import { Limits, NO_LIMITS } from '../clients/limits';
import { hintOf, ListedClient } from '../clients/listed';
import { RegisterDocument } from './register-document';

/** A requested change, as it is stored until somebody decides about it. */
export interface ChangeDocument {
  /** The upstream account of a client that will be created. */
  account?: string;
  /** Its kind. Undefined: it is a server. */
  kind?: ClientKind;
  /** The changed permissions, by the names of the API. */
  permissions: Permissions;
  key?: KeyDocument;
  register?: RegisterDocument;
}

/** What a client may do, and who holds its keys, when a change of it was requested. */
export interface BeforeDocument {
  permissions: object;
  holders: Holder[];
}

type Permissions = Record<string, unknown> & { scopes?: string[]; operations?: string[] | null };

/** A new key. The key itself is nowhere. */
interface KeyDocument {
  id: string;
  sha256: string;
  hint: string;
  person: string | null;
  expires_at: string | null;
}

export function toPermissions({ scopes, operations, ...limits }: Partial<Grants>): Permissions {
  const named = LIMIT_KEYS.filter((key) => limits[key] !== undefined).map((key) => {
    const value = limits[key];
    return [LIMIT_FIELDS[key].name, value instanceof Decimal ? value.toFixed() : value];
  });
  return {
    ...(scopes !== undefined && { scopes: [...new Set(scopes)] }),
    ...(operations !== undefined && { operations }),
    ...(Object.fromEntries(named) as Permissions),
  };
}

export function fromPermissions({ scopes, operations, ...named }: Permissions): Partial<Grants> {
  const limits = LIMIT_KEYS.filter((key) => named[LIMIT_FIELDS[key].name] !== undefined).map((key) => {
    const { name, column } = LIMIT_FIELDS[key];
    const value = named[name];
    return [key, column === 'numeric' && value !== null ? new Decimal(value as string) : value];
  });
  return {
    ...(scopes !== undefined && { scopes }),
    ...(operations !== undefined && { operations }),
    ...(Object.fromEntries(limits) as Partial<Limits>),
  };
}

/** Returns everything that a client may do. */
export function grantsOf(client: ListedClient): Grants {
  return { ...NO_LIMITS, scopes: [], operations: null, ...fromPermissions(permissionsOf(client) as Permissions) };
}

export function toKeyDocument({ id, sha256, hint, person, expiresAt }: KeyRow): KeyDocument {
  const hex = Buffer.from(sha256).toString('hex');
  return { id, sha256: hex, hint, person, expires_at: expiresAt?.toISOString() ?? null };
}

export function fromKeyDocument({ id, sha256, hint, person, expires_at }: KeyDocument): KeyRow {
  const expiresAt = expires_at === null ? null : new Date(expires_at);
  return { id, sha256: new Uint8Array(Buffer.from(sha256, 'hex')), hint, person, expiresAt };
}

/** Returns a change for its record: without the SHA-256 of a key, and without recipients, because records are not erased. */
export function recordedChange(client: string, { account, kind, permissions, key, register }: ChangeDocument): object {
  const { hint = '', person, expires_at } = key ?? {};
  return {
    ...(account !== undefined && { account }),
    ...(kind !== undefined && { kind }),
    ...permissions,
    ...(key && { hint: hintOf(client, { hint }), person, expires_at }),
    ...(register && { list: register.list }),
  };
}

/** Returns a change as people see it: as it is recorded, with the masks of recipients. */
export function shownChange(client: string, change: ChangeDocument): object {
  const recipients = change.register?.recipients.map(({ masked }) => masked);
  return { ...recordedChange(client, change), ...(recipients && { recipients }) };
}
