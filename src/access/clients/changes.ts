import { Prisma } from '../../platform/database/generated/client';
import { LIMIT_KEYS, LIMIT_ROWS } from './limits/limits';
import { ListedClient } from './listed';
import { PROVIDER_FIELDS, PROVIDER_KEYS } from './providers';

/** Origins of changes. */
export const CHANGED_VIA = ['api', 'console', 'cli', 'start', 'worker', 'proxy'] as const;

/** Actions on clients, their keys and the rules for changes. */
export const CLIENT_ACTIONS = [
  'client_created',
  'limits_changed',
  'scopes_changed',
  'operations_changed',
  'provider_changed',
  'key_issued',
  'key_claimed',
  'key_revoked',
  'ephemeral_key_issued',
  'ephemeral_key_revoked',
  'person_revoked',
  'person_added',
  'person_limits_changed',
  'people_merged',
  'fees_forgotten',
  'transaction_attributed',
  'beneficiary_added',
  'beneficiary_removed',
  'change_requested',
  'change_approved',
  'change_rejected',
  'emergency_change',
  'dual_control_changed',
  'configuration_changed',
] as const;

type ClientAction = (typeof CLIENT_ACTIONS)[number];

/** The author of a change, with its origin and reason. */
export interface ChangeAuthor {
  via: (typeof CHANGED_VIA)[number];
  /** The client and the key of the request. Null on the command line and at startup. */
  clientId: string | null;
  keyId: string | null;
  /** The person. On the command line, the user of the operating system. */
  actor: string | null;
  clientAddress: string | null;
  requestId: string | null;
  /** The request ID of `X-Call-Id`. */
  callId: string | null;
  reason: string | null;
  /** Whether one person bypasses dual control with a command on the database. The record marks it. */
  isEmergency?: boolean;
}

/** The proxy itself, which creates the demo clients at its first startup. */
export const AT_START: ChangeAuthor = {
  via: 'start',
  clientId: null,
  keyId: null,
  actor: null,
  clientAddress: null,
  requestId: null,
  callId: null,
  reason: null,
};

/** One change of a client, of a key, or of the rules for changes. Never contains the key itself. */
export interface ClientChange {
  action: ClientAction;
  /** The client. Its ID is null before its creation. Null for a change of the whole installation. */
  client: { id: string | null; name: string } | null;
  keyId: string | null;
  /** The changed fields before. Null for a new target. */
  before: object | null;
  /** The same fields after. */
  after: object;
}

/** Records changes. Implemented by the journal, the only writer of records. */
export abstract class ChangeRecords {
  /** Writes the records in the transaction of the change, so both are committed or neither. */
  abstract record(tx: Prisma.TransactionClient, changes: ClientChange[], author: ChangeAuthor): Promise<void>;
}

/** Records changes. An emergency change of one person gets an additional record. */
export async function recordChanges(
  records: ChangeRecords,
  tx: Prisma.TransactionClient,
  changes: ClientChange[],
  author: ChangeAuthor,
): Promise<void> {
  const [first] = changes;
  const emergency = author.isEmergency && first ? [emergencyOf(first.client, changes)] : [];
  await records.record(tx, [...emergency, ...changes], author);
}

function emergencyOf(client: ClientChange['client'], changes: ClientChange[]): ClientChange {
  const acts = [...new Set(changes.map(({ action }) => action))];
  return { action: 'emergency_change', client, keyId: null, before: null, after: { acts } };
}

type PermissionFields = Omit<ListedClient, 'id' | 'name' | 'account' | 'kind' | 'created_at' | 'active_keys'>;

const PROVIDER_NAMES = PROVIDER_KEYS.map((key) => PROVIDER_FIELDS[key].name as keyof PermissionFields);
const LIMIT_NAMES = LIMIT_KEYS.map((key) => LIMIT_ROWS[key].name as keyof PermissionFields);

/** Fields of each action, by their names in the API. */
const CHANGED_BY: [ClientAction, (keyof PermissionFields)[]][] = [
  ['scopes_changed', ['scopes']],
  ['operations_changed', ['operations']],
  ['limits_changed', LIMIT_NAMES],
  ['provider_changed', PROVIDER_NAMES],
];

/** Returns the creation of a client, with all its permissions. */
export function creationOf(client: ListedClient): ClientChange {
  return {
    action: 'client_created',
    client: targetOf(client),
    keyId: null,
    before: null,
    after: { account: client.account, kind: client.kind, ...permissionsOf(client) },
  };
}

/** Returns all permissions of a client, by their names in the API. */
export function permissionsOf(client: ListedClient): object {
  return pick(
    client,
    CHANGED_BY.flatMap(([, fields]) => fields),
  );
}

/** Returns the changes between two states of a client, one per action, without equal fields. */
export function changesBetween(before: ListedClient, after: ListedClient): ClientChange[] {
  return CHANGED_BY.flatMap(([action, names]): ClientChange[] => {
    const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    if (changed.length === 0) return [];
    const [was, is] = [pick(before, changed), pick(after, changed)];
    return [{ action, client: targetOf(after), keyId: null, before: was, after: is }];
  });
}

function targetOf({ id, name }: ListedClient): ClientChange['client'] {
  return { id, name };
}

function pick(client: ListedClient, names: (keyof PermissionFields)[]): object {
  return Object.fromEntries(names.map((name) => [name, client[name]]));
}
