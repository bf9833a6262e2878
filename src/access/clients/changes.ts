import { Prisma } from '../../platform/database/generated/client';
import { LIMIT_FIELDS, LIMIT_KEYS } from './limit-fields';
import { ListedClient } from './listed';

/** How a change was requested. */
export const CHANGED_VIA = ['api', 'console', 'cli', 'start', 'worker', 'proxy'] as const;

/** What can be done to a client and its keys. */
export const CLIENT_ACTIONS = [
  'client_created',
  'limits_changed',
  'scopes_changed',
  'operations_changed',
  'key_issued',
  'key_revoked',
  'beneficiary_added',
  'beneficiary_removed',
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

/** One change of a client or of a key. It never contains the key itself. */
export interface ClientChange {
  action: ClientAction;
  client: { id: string; name: string };
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

type Granted = Omit<ListedClient, 'id' | 'name' | 'created_at' | 'active_keys'>;

const LIMIT_NAMES = LIMIT_KEYS.map((key) => LIMIT_FIELDS[key].name as keyof Granted);

/** The fields that each action changes, by their names in the API. */
const CHANGED_BY: [ClientAction, (keyof Granted)[]][] = [
  ['scopes_changed', ['scopes']],
  ['operations_changed', ['operations']],
  ['limits_changed', LIMIT_NAMES],
];

/** The creation of a client, with everything that it may do. */
export function creationOf(client: ListedClient): ClientChange {
  const names = CHANGED_BY.flatMap(([, fields]) => fields);
  return { action: 'client_created', client: targetOf(client), keyId: null, before: null, after: pick(client, names) };
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
