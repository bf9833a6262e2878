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

/** The proof of a caller's identity. */
type Credential = { kind: 'key' } | EphemeralCredential | SessionCredential | TokenCredential;

/** A key that an app's server issued for one person. The caller holds its rights. */
interface EphemeralCredential {
  kind: 'ephemeral';
  id: string;
  /** Expiry, on the monotonic clock of this process. */
  validUntil: number;
  /** Hashes of the allowed recipients (`beneficiaryHash`). Null allows all. */
  recipients: ReadonlySet<string> | null;
}

/** A session of a person on a page of the client. */
export interface SessionCredential {
  kind: 'session';
  id: string;
  /** Time of the person's last authentication. Null if the provider omits it. */
  signedInAt: Date | null;
  /** Latest end, on the monotonic clock of this process. */
  validUntil: number;
}

/** The caller of a request: a key of a client. */
export interface Caller {
  clientId: string;
  clientName: string;
  /** The upstream account of the client. */
  account: string;
  keyId: string;
  credential: Credential;
  /** The owner of a personal credential. Null for a shared key. */
  identity: Identity | null;
  scopes: ReadonlySet<Scope>;
  /** The operations enabled for the client. Null allows all. */
  operations: ReadonlySet<string> | null;
  limits: Limits;
  /** Whether the client has blocked recipients. */
  blocksRecipients: boolean;
  /** The version of the client's row. It changes with its limits, scopes and operations. */
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

const COLUMNS = `k.id AS "keyId", k.person,
    c.id AS "clientId", c.xmin::text AS rights, c.name AS "clientName", c.account, c.scopes,
    c.operations, c.blocks_recipients AS "blocksRecipients"`;

/** The columns of a key `k` (api_key) and its client `c`. */
export const CALLER_COLUMNS = `${COLUMNS}, ${limitColumns(LIMIT_KEYS, 'c')}`;

/** The same columns, with the limits of a person `p` (person) where set. */
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
