import { Prisma } from '../../platform/database/generated/client';
import { LIMIT_KEYS, LIMIT_ROWS } from './limits/limits';
import { ListedClient } from './listed';
import { PROVIDER_FIELDS, PROVIDER_KEYS } from './providers';

/** How a change was requested. */
export const CHANGED_VIA = ['api', 'console', 'cli', 'start', 'worker', 'proxy'] as const;

/** What can be done to a client and its keys, and to the rules for changes. */
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

/** Who makes a change, from where, and why. */
export interface ChangeAuthor {
  via: (typeof CHANGED_VIA)[number];
  /** The client and the key of the request. Null on the command line and at the start. */
  clientId: string | null;
  keyId: string | null;
  /** The person. On the command line, the user of the operating system. */
  actor: string | null;
  clientAddress: string | null;
  requestId: string | null;
  /** The id of the request, as `X-Call-Id` gives it. */
  callId: string | null;
  reason: string | null;
  /** Whether one person makes a change that needs two, with a command on the database. It is recorded as such. */
  isEmergency?: boolean;
}

/** The proxy itself, which creates the demo clients at its first start. */
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

/** One change of a client, of a key, or of the rules for changes. It never contains the key itself. */
export interface ClientChange {
  action: ClientAction;
  /** The client. It has no ID before it exists. Null if the change concerns the whole installation. */
  client: { id: string | null; name: string } | null;
  keyId: string | null;
  /** The changed fields as they were. Null if the target did not exist. */
  before: object | null;
  /** The same fields as they are now. */
  after: object;
}

/** Records changes. The journal implements it, because it is the only writer of records. */
export abstract class ChangeRecords {
  /** Writes the records in the transaction of the change itself, so that neither is committed without the other. */
  abstract record(tx: Prisma.TransactionClient, changes: ClientChange[], by: ChangeAuthor): Promise<void>;
}

/** Records changes. If one person makes some that need two, that is recorded as well. */
export async function recordChanges(
  records: ChangeRecords,
  tx: Prisma.TransactionClient,
  changes: ClientChange[],
  by: ChangeAuthor,
): Promise<void> {
  const [first] = changes;
  const emergency = by.isEmergency && first ? [emergencyOf(first.client, changes)] : [];
  await records.record(tx, [...emergency, ...changes], by);
}

function emergencyOf(client: ClientChange['client'], changes: ClientChange[]): ClientChange {
  const acts = [...new Set(changes.map(({ action }) => action))];
  return { action: 'emergency_change', client, keyId: null, before: null, after: { acts } };
}

type Granted = Omit<ListedClient, 'id' | 'name' | 'account' | 'kind' | 'created_at' | 'active_keys'>;

const PROVIDER_NAMES = PROVIDER_KEYS.map((key) => PROVIDER_FIELDS[key].name as keyof Granted);
const LIMIT_NAMES = LIMIT_KEYS.map((key) => LIMIT_ROWS[key].name as keyof Granted);

/** The fields that each action changes, by their names in the API. */
const CHANGED_BY: [ClientAction, (keyof Granted)[]][] = [
  ['scopes_changed', ['scopes']],
  ['operations_changed', ['operations']],
  ['limits_changed', LIMIT_NAMES],
  ['provider_changed', PROVIDER_NAMES],
];

/** The creation of a client, with everything that it may do. */
export function creationOf(client: ListedClient): ClientChange {
  return {
    action: 'client_created',
    client: targetOf(client),
    keyId: null,
    before: null,
    after: { account: client.account, kind: client.kind, ...permissionsOf(client) },
  };
}

/** Everything that a client may do, by the names of the API. */
export function permissionsOf(client: ListedClient): object {
  return pick(
    client,
    CHANGED_BY.flatMap(([, fields]) => fields),
  );
}

/** The changes between two states of a client, one for each kind of change. Equal fields are left out. */
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

function pick(client: ListedClient, names: (keyof Granted)[]): object {
  return Object.fromEntries(names.map((name) => [name, client[name]]));
}
