import { ClientKind } from '../clients/client-kind';
import { Holder } from '../clients/client-writes';
import { KeyRow } from '../clients/key-rows';
import { hintOf } from '../clients/listed';
import { Permissions } from '../clients/permissions';
import { identityOf, isSignIn } from '../clients/sign-ins';
import { MergeDocument, recordedMerge } from '../people/merges';
import { OwnLimitsDocument } from '../people/person-exceptions';
import { RegisterDocument } from './register-document';
import { StopLiftDocument } from './stop-lifts';

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
  /** The limits of one person. */
  person?: { id: string; limits: OwnLimitsDocument };
  /** A stop that is to be lifted. */
  stop?: StopLiftDocument;
  /** Two people who are one human. */
  merge?: MergeDocument;
}

/** What a client may do, and who holds its keys, when a change of it was requested. */
export interface BeforeDocument {
  permissions: object;
  holders: Holder[];
  /** The limits of the person whose limits are changed. */
  person?: OwnLimitsDocument;
}

/** A new key. The key itself is nowhere. */
interface KeyDocument {
  id: string;
  sha256: string;
  hint: string;
  person: string | null;
  expires_at: string | null;
  /** Of the key of a person who signs in at the provider. */
  issuer?: string;
  subject?: string;
}

export function toKeyDocument({ sha256, expiresAt, ...key }: KeyRow): KeyDocument {
  const hex = Buffer.from(sha256).toString('hex');
  return { ...key, sha256: hex, expires_at: expiresAt?.toISOString() ?? null };
}

export function fromKeyDocument({ sha256, expires_at, ...key }: KeyDocument): KeyRow {
  const expiresAt = expires_at === null ? null : new Date(expires_at);
  return { ...key, sha256: new Uint8Array(Buffer.from(sha256, 'hex')), expiresAt };
}

/** Returns a change for its record: without the SHA-256 of a key, and without recipients, because records are not erased. */
export function recordedChange(client: string | null, change: ChangeDocument): object {
  const { account, kind, permissions, key, register, person, stop, merge } = change;
  return {
    ...(account !== undefined && { account }),
    ...(kind !== undefined && { kind }),
    ...permissions,
    ...(key && client !== null && recordedKey(client, key)),
    ...(register && { list: register.list }),
    ...(person && { person_id: person.id, ...person.limits }),
    ...(stop && { stop_id: stop.id, stops: stop.stops, unreconciled: stop.unreconciled }),
    ...(merge && recordedMerge(merge)),
  };
}

function recordedKey(client: string, key: KeyDocument): object {
  const { person, expires_at } = key;
  // The hint of a personal key is known when it is claimed.
  const hint = person === null ? { hint: hintOf(client, key) } : {};
  return { ...(isSignIn(key) ? identityOf(key) : hint), person, expires_at };
}

/** Returns a change as people see it: as it is recorded, with the masks of recipients. */
export function shownChange(client: string | null, change: ChangeDocument): object {
  const recipients = change.register?.recipients.map(({ masked }) => masked);
  return { ...recordedChange(client, change), ...(recipients && { recipients }) };
}
