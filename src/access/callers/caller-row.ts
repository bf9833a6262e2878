import { Scope } from '../../operations/scopes';
import { LIMIT_KEYS, LIMIT_ROWS, LimitKey, OWN_LIMITS } from '../clients/limit-keys';
import { limitColumns, LimitsRow, limitsOf } from '../clients/limits';
import { Caller } from './caller';

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
