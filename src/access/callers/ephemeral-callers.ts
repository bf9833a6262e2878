import { Decimal } from 'decimal.js';
import { isOperation, scopesOf } from '../../operations/catalogue';
import { END_USER_SCOPES } from '../../operations/scopes';
import { withPatience } from '../../platform/database/patience';
import { PrismaService } from '../../platform/database/prisma.service';
import { Limits, toDecimal, Usd } from '../clients/limits';
import { EphemeralKeyState, STATE, WITH_PARENT_AND_PERSON } from '../ephemeral/state';
import { Caller } from './caller';
import { CALLER_COLUMNS, CallerRow, callerOf } from './caller-row';

/** An ephemeral key in any state, with its parent, its client and its person. */
export interface EphemeralRow extends CallerRow {
  state: EphemeralKeyState;
  ephemeralKeyId: string;
  /** Null if the person was erased. */
  personName: string | null;
  ownOperations: string[];
  ownCountries: string[];
  /** Null for any. */
  recipients: Uint8Array[] | null;
  ownMaxItemUsd: Usd;
  /** Milliseconds from the statement on. */
  validForMs: number;
}

const SELECT = `SELECT ${CALLER_COLUMNS}, ${STATE} AS state, e.id AS "ephemeralKeyId", p.name AS "personName",
    e.operations AS "ownOperations", e.countries AS "ownCountries", e.recipients, e.max_item_usd AS "ownMaxItemUsd",
    extract(epoch FROM least(e.expires_at, k.expires_at) - now())::float * 1000 AS "validForMs",
    encode(e.sha256, 'hex') AS sha256
  FROM ${WITH_PARENT_AND_PERSON} JOIN client c ON c.id = k.client_id`;

export const FIND_EPHEMERAL_KEYS = `${SELECT} WHERE e.sha256 = ANY ($1::bytea[])`;

const FIND_EPHEMERAL_KEY_BY_ID = `${SELECT} WHERE e.id = $1::uuid`;

/** Finds the caller of an ephemeral key by its ID. Undefined if the key has ended. */
export async function findEphemeralById(
  prisma: PrismaService,
  id: string,
  patienceMs: number,
): Promise<Caller | undefined> {
  const askedAt = performance.now();
  const finding = prisma.prepared<EphemeralRow>('find_ephemeral_key_by_id', FIND_EPHEMERAL_KEY_BY_ID, [id]);
  const [row] = await withPatience(finding, patienceMs);
  return row && ephemeralCallerOf(row, askedAt);
}

/**
 * Returns the caller of an ephemeral key: its parent, narrowed to what the key may do. What the client may not do any more, the
 * key may not do either.
 * @param askedAt when the row was asked for, on the monotonic clock.
 * @returns undefined if the key has ended, or can pay to no country any more.
 */
export function ephemeralCallerOf(row: EphemeralRow, askedAt: number): Caller | undefined {
  const { state, personName: name, ownOperations, ownCountries, recipients } = row;
  const parent = callerOf(row);
  const countries = narrowedTo(ownCountries, parent.limits.countries);
  if (state !== 'active' || name === null || countries === 'none') return undefined;
  const maxItemUsd = least(parent.limits.maxItemUsd, toDecimal(row.ownMaxItemUsd));
  const scopes = new Set(ownOperations.flatMap((operation) => (isOperation(operation) ? scopesOf(operation) : [])));
  return {
    ...parent,
    credential: {
      kind: 'ephemeral',
      id: row.ephemeralKeyId,
      validUntil: askedAt + row.validForMs,
      recipients: recipients && new Set(recipients.map((hash) => Buffer.from(hash).toString('hex'))),
    },
    identity: { source: 'ephemeral', issuer: null, name },
    scopes: new Set(END_USER_SCOPES.filter((scope) => scopes.has(scope) && parent.scopes.has(scope))),
    operations: new Set(ownOperations.filter((operation) => parent.operations?.has(operation) ?? true)),
    // The list of addresses is for the client's servers. A phone may be anywhere.
    limits: { ...parent.limits, countries, maxItemUsd, addresses: [] },
  };
}

/** An empty list allows every country, so it cannot mean that none is left. */
function narrowedTo(own: string[], ofClient: string[]): Limits['countries'] | 'none' {
  if (own.length === 0 || ofClient.length === 0) return own.length === 0 ? ofClient : own;
  const both = own.filter((country) => ofClient.includes(country));
  return both.length === 0 ? 'none' : both;
}

function least(one: Decimal | null, other: Decimal | null): Decimal | null {
  return one && other ? Decimal.min(one, other) : (one ?? other);
}
