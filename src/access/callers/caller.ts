import { Scope } from '../../operations/catalogue/scopes';
import {
  LIMIT_KEYS,
  LIMIT_ROWS,
  limitColumns,
  LimitKey,
  Limits,
  limitsOf,
  LimitsRow,
  OWN_LIMITS,
} from '../clients/limits/limits';
import { Identity } from '../people/person';
import { TokenCredential } from '../tokens/access-token';

/** What a caller proves itself with. */
type Credential = { kind: 'key' } | EphemeralCredential | SessionCredential | TokenCredential;

/** A key that an app's server made for one person. What it may do is what its caller may do. */
interface EphemeralCredential {
  kind: 'ephemeral';
  id: string;
  /** When it expires, on the monotonic clock of this process. */
  validUntil: number;
  /** The only recipients that it may pay, by their hashes (`beneficiaryHash`). Null for any. */
  recipients: ReadonlySet<string> | null;
}

/** A session of a person on a page of the client. */
export interface SessionCredential {
  kind: 'session';
  id: string;
  /** When the person last proved who they are. Null if the provider does not say. */
  signedInAt: Date | null;
  /** When it ends at the latest, on the monotonic clock of this process. */
  validUntil: number;
}

/** The caller of a request: a key of a client. */
export interface Caller {
  clientId: string;
  clientName: string;
  /** The upstream account that the client belongs to. */
  account: string;
  keyId: string;
  credential: Credential;
  /** The person whose credential it is, such as the owner of a personal key. Null if it belongs to nobody in particular. */
  identity: Identity | null;
  scopes: ReadonlySet<Scope>;
  /** The operations that are enabled for the client. Null for all. */
  operations: ReadonlySet<string> | null;
  limits: Limits;
  /** Whether the client has blocked recipients. */
  blocksRecipients: boolean;
  /** The version of the client's row. It changes with each of its limits, scopes and operations. */
  rights: string;
}

/** Returns whether the credential of a caller has expired since it was looked up. */
export function hasEnded({ credential }: Caller): boolean {
  return credential.kind !== 'key' && performance.now() > credential.validUntil;
}

/** Returns the error code for a caller whose credential is no longer valid. */
export function endOf(caller: Caller): EndCode {
  const { kind } = caller.credential;
  if (kind === 'token') return hasEnded(caller) ? 'token_expired' : 'invalid_token';
  return END_CODES[kind];
}

const END_CODES = { key: 'invalid_key', ephemeral: 'ephemeral_key_ended', session: 'session_ended' } as const;

type EndCode = (typeof END_CODES)[keyof typeof END_CODES] | 'invalid_token' | 'token_expired';

/** A valid key, with its client. */
export interface CallerRow extends LimitsRow {
  keyId: string;
  person: string | null;
  clientId: string;
  clientName: string;
  account: string;
  scopes: Scope[];
  operations: string[] | null;
  blocksRecipients: boolean;
  rights: string;
}

const COLUMNS = `k.id AS "keyId", k.person, c.id AS "clientId", c.xmin::text AS rights, c.name AS "clientName", c.account, c.scopes,
    c.operations, c.blocks_recipients AS "blocksRecipients"`;

/** The columns of a key `k` (api_key) and its client `c`. */
export const CALLER_COLUMNS = `${COLUMNS}, ${limitColumns(LIMIT_KEYS, 'c')}`;

/** The same with the limits of a person `p` (person), if there is one, instead of those of each person. */
export const CALLER_COLUMNS_FOR_PERSON = `${COLUMNS}, ${LIMIT_KEYS.map(columnForPerson).join(', ')}`;

function columnForPerson(key: LimitKey): string {
  const own = OWN_LIMITS.find(([, replaced]) => replaced === key)?.[0];
  const column = `c.${LIMIT_ROWS[key].name}`;
  return `${own ? `coalesce(p.${LIMIT_ROWS[own].name}, ${column})` : column} AS "${key}"`;
}

export function callerOf(row: CallerRow): Caller {
  const { account, clientId, clientName, keyId, operations, person, blocksRecipients, rights } = row;
  return {
    clientId,
    clientName,
    account,
    keyId,
    credential: { kind: 'key' },
    identity: person === null ? null : { source: 'key', issuer: null, name: person },
    scopes: new Set(row.scopes),
    operations: operations && new Set(operations),
    limits: limitsOf(row),
    blocksRecipients,
    rights,
  };
}
