import { Prisma } from '../../platform/database/generated/client';
import { Problem } from '../../platform/errors/problem';
import {
  entriesOfAdded,
  entriesToRemove,
  RegisterChange,
  RegisterList,
  RegisterWrite,
} from '../clients/register-writes';
import { ChangeAuthor } from '../clients/changes';
import { Holder } from '../clients/client-writes';
import { Permissions } from '../clients/grants';
import { KeyRow } from '../clients/key-rows';
import { ClientKind, hintOf } from '../clients/listed';
import { identityOf, isSignIn } from '../clients/sign-ins';
import { MergeDocument, recordedMerge } from '../people/merges';
import { OwnLimitsDocument } from '../people/person-exceptions';

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

/** A requested change of a register, as it is stored: additions to `allowed`, or removals from `blocked`. */
interface RegisterDocument {
  list: RegisterList;
  recipients: RecipientDocument[];
}

interface RecipientDocument {
  /** The ID of the removed entry. Null for an addition. */
  id: string | null;
  kind: string;
  /** The hash of the register, in hexadecimal. Null if the recipient was erased. */
  recipient: string | null;
  masked: string | null;
}

/**
 * Returns what of a change lets a client pay more people. Undefined if nothing does. Removals name entries by their IDs, so
 * that a block that is set meanwhile stays.
 */
export async function widenedRegister(
  tx: Prisma.TransactionClient,
  clientId: string,
  write: RegisterWrite,
): Promise<RegisterDocument | undefined> {
  const { list } = write;
  const recipients = await (list === 'allowed' ? additions(tx, write) : removals(tx, clientId, write));
  return recipients.length > 0 ? { list, recipients } : undefined;
}

/** Recipients that were erased meanwhile are not added. */
export function fromRegisterDocument({ list, recipients }: RegisterDocument): RegisterWrite {
  if (list === 'blocked') {
    return { list, add: [], remove: { ids: recipients.flatMap(({ id }) => id ?? []), recipients: [] } };
  }
  const add = recipients.flatMap(({ kind, recipient, masked }) =>
    recipient === null ? [] : [{ kind, recipient: new Uint8Array(Buffer.from(recipient, 'hex')), masked }],
  );
  return { list, add, remove: { ids: [], recipients: [] } };
}

/** Of additions and removals, one waits and the other applies at once. A change with both would be half made. */
export function requireOneDirection({ add, remove }: RegisterChange): void {
  if (add.length === 0 || remove.length === 0) return;
  const detail = 'must be sent in a request of its own, because one of add and remove waits for a second person';
  throw new Problem('invalid_request', { faults: ['/add', '/remove'].map((pointer) => ({ pointer, detail })) });
}

async function additions(tx: Prisma.TransactionClient, write: RegisterWrite): Promise<RecipientDocument[]> {
  const existing = new Set((await entriesOfAdded(tx, write)).map(({ recipient }) => hex(recipient)));
  const wanted = new Map(write.add.map((one) => [hex(one.recipient), one]));
  return [...wanted]
    .filter(([recipient]) => !existing.has(recipient))
    .map(([recipient, { kind, masked }]) => ({ id: null, kind, recipient, masked }));
}

async function removals(
  tx: Prisma.TransactionClient,
  clientId: string,
  write: RegisterWrite,
): Promise<RecipientDocument[]> {
  const entries = await entriesToRemove(tx, clientId, write);
  return entries.map(({ id, kind, recipient, masked }) => ({ id, kind, recipient: hex(recipient), masked }));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** The lift of a stop, as it is stored until a second person decides about it. */
export interface StopLiftDocument {
  id: string;
  /** What the stop stops, and why, for the second person. */
  stops: string;
  /** Lifts it although the upstream's list of a lost time was not read. */
  unreconciled: boolean;
}

/** Lifts stops. The owner of stops implements it, because it is above the governance of changes. */
export abstract class StopLifts {
  /**
   * Lifts a stop in the transaction of the decision.
   * @returns false if no active stop has this ID.
   * @throws Problem `recovery_required`
   */
  abstract liftIn(tx: Prisma.TransactionClient, lift: StopLiftDocument, by: ChangeAuthor): Promise<boolean>;
}
