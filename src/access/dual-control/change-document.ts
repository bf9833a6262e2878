import { Prisma } from '../../platform/database/generated/client';
import { Problem } from '../../platform/errors/problem';
import { ChangeAuthor, permissionsOf } from '../clients/changes';
import { Holder, holdersOf } from '../clients/client-writes';
import { Permissions } from '../clients/grants';
import { KeyRow } from '../clients/key-rows';
import { ClientKind, hintOf, ListedClient } from '../clients/listed';
import { RegisterList } from '../clients/register-lists';
import { entriesOfAdded, entriesToRemove, RegisterChange, RegisterWrite } from '../clients/register-writes';
import { identityOf, isSignIn } from '../clients/sign-ins';
import { MergeDocument, recordedMerge } from '../people/merges';
import { OwnLimitsDocument } from '../people/person-exceptions';
import { AttributionDocument, recordedAttribution, SettlementDocument } from './payout-changes';

/** The stored form of a pending change. */
export interface ChangeDocument {
  /** The upstream account of a client to create. */
  account?: string;
  /** Its kind. Default: `server`. */
  kind?: ClientKind;
  /** The changed permissions, by their names in the API. */
  permissions: Permissions;
  key?: KeyDocument;
  register?: RegisterDocument;
  /** The limits of one person. */
  person?: { id: string; limits: OwnLimitsDocument };
  /** A stop to lift. */
  stop?: StopLiftDocument;
  /** Two people to merge into one human. */
  merge?: MergeDocument;
  /** Learned fees to forget. */
  fees?: FeesDocument;
  /** Payouts to settle. */
  settlement?: SettlementDocument;
  /** A transaction to attribute to a payout. */
  attribution?: AttributionDocument;
}

/** The permissions and the key holders of a client at the request of a change. */
export interface BeforeDocument {
  permissions: object;
  holders: Holder[];
  /** The limits of the changed person. */
  person?: OwnLimitsDocument;
}

/** Returns the current permissions and key holders of a client. */
export async function readBefore(
  tx: Prisma.TransactionClient,
  client: ListedClient,
): Promise<BeforeDocument> {
  return { permissions: permissionsOf(client), holders: await holdersOf(tx, client.id) };
}

/** A new key, without its secret. */
interface KeyDocument {
  id: string;
  sha256: string;
  hint: string;
  person: string | null;
  expires_at: string | null;
  /** Provider of a sign-in's key. */
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

/** Returns a change for its permanent record, without the SHA-256 of a key and without recipients. */
export function recordedChange(client: string | null, change: ChangeDocument): object {
  const { account, kind, permissions, key, register, person, stop, merge, fees } = change;
  const { settlement, attribution } = change;
  return {
    ...(account !== undefined && { account }),
    ...(kind !== undefined && { kind }),
    ...permissions,
    ...(key && client !== null && recordedKey(client, key)),
    ...(register && { list: register.list }),
    ...(person && { person_id: person.id, ...person.limits }),
    ...(stop && { stop_id: stop.id, stops: stop.stops, unreconciled: stop.unreconciled }),
    ...(merge && recordedMerge(merge)),
    ...fees,
    ...(settlement && recordedSettlement(settlement)),
    ...(attribution && recordedAttribution(attribution)),
  };
}

function recordedSettlement({ version: _, supersedes: __, ...settlement }: SettlementDocument): object {
  return settlement;
}

function recordedKey(client: string, key: KeyDocument): object {
  const { person, expires_at } = key;
  // A personal key gets its hint at its claim.
  const hint = person === null ? { hint: hintOf(client, key) } : {};
  return { ...(isSignIn(key) ? identityOf(key) : hint), person, expires_at };
}

/** Returns a change for display: its recorded form with masked recipients. */
export function shownChange(client: string | null, change: ChangeDocument): object {
  const recipients = change.register?.recipients.map(({ masked }) => masked);
  return { ...recordedChange(client, change), ...(recipients && { recipients }) };
}

/** The stored form of a pending register change: additions to `allowed`, or removals from `blocked`. */
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
 * Returns the part of a change that lets a client pay more recipients. Undefined if none. Removals name
 * entries by ID, so a block that is set meanwhile stays.
 */
export async function registerExpansion(
  tx: Prisma.TransactionClient,
  clientId: string,
  write: RegisterWrite,
): Promise<RegisterDocument | undefined> {
  const { list } = write;
  const recipients = await (list === 'allowed' ? additions(tx, write) : removals(tx, clientId, write));
  return recipients.length > 0 ? { list, recipients } : undefined;
}

/** Restores a register change. Skips recipients that were erased meanwhile. */
export function fromRegisterDocument({ list, recipients }: RegisterDocument): RegisterWrite {
  if (list === 'blocked') {
    return { list, add: [], remove: { ids: recipients.flatMap(({ id }) => id ?? []), recipients: [] } };
  }
  const add = recipients.flatMap(({ kind, recipient, masked }) =>
    recipient === null ? [] : [{ kind, recipient: new Uint8Array(Buffer.from(recipient, 'hex')), masked }],
  );
  return { list, add, remove: { ids: [], recipients: [] } };
}

/** Rejects a change that adds and removes: one direction needs approval, and the other applies at once. */
export function requireOneDirection({ add, remove }: RegisterChange): void {
  if (add.length === 0 || remove.length === 0) return;
  const detail =
    'must be sent in a request of its own, because one of add and remove waits for a second person';
  throw new Problem('invalid_request', {
    faults: ['/add', '/remove'].map((pointer) => ({ pointer, detail })),
  });
}

async function additions(tx: Prisma.TransactionClient, write: RegisterWrite): Promise<RecipientDocument[]> {
  const existing = new Set((await entriesOfAdded(tx, write)).map(({ recipient }) => hex(recipient)));
  const added = new Map(write.add.map((stored) => [hex(stored.recipient), stored]));
  return [...added]
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

/** The stored form of a pending lift of a stop. */
export interface StopLiftDocument {
  id: string;
  /** Scope and reason of the stop, for the second person. */
  stops: string;
  /** Whether to lift it before the upstream's list of a recovery gap was read. */
  unreconciled: boolean;
}

/** Lifts stops. Implemented by the owner of stops, which is above this area. */
export abstract class StopLifts {
  /**
   * Lifts a stop in the transaction of the decision.
   * @returns false if no active stop has this ID.
   * @throws Problem `recovery_required`
   */
  abstract liftIn(
    tx: Prisma.TransactionClient,
    lift: StopLiftDocument,
    author: ChangeAuthor,
  ): Promise<boolean>;
}

/** The operation of an account whose learned fees are to be forgotten. */
export interface FeesDocument {
  account: string;
  operation: string;
}

/** Forgets learned fees. Implemented by the owner of fees, which is above this area. */
export abstract class FeeRemovals {
  /**
   * Forgets fees in the transaction of the decision.
   * @returns undefined if there are none.
   */
  abstract forgetIn(
    tx: Prisma.TransactionClient,
    fees: FeesDocument,
    author: ChangeAuthor,
  ): Promise<object | undefined>;
}
