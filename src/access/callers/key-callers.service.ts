import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { isOperation, scopesOf } from '../../operations/catalogue/catalogue';
import { END_USER_SCOPES } from '../../operations/catalogue/scopes';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { REQUEST_TIMEOUT_MS, withTimeout } from '../../platform/database/pools/timeouts';
import { Problem } from '../../platform/errors/problem';
import { hashKey, isEphemeralKey, OPENS } from '../clients/key';
import { Limits, toDecimal, Usd } from '../clients/limits/limits';
import { EphemeralKeyState, STATE, WITH_PARENT_AND_PERSON } from '../ephemeral/state';
import { Caller, CALLER_COLUMNS, callerOf, CallerRow } from './caller';
import { KeyLookUps, LastUsesService, Purpose, RememberedCallers } from './look-ups';

type KeyRow = CallerRow & { sha256: string };

const FIND_KEYS = `
  SELECT encode(k.sha256, 'hex') AS sha256, ${CALLER_COLUMNS}
  FROM api_key k JOIN client c ON c.id = k.client_id
  WHERE k.sha256 = ANY ($1::bytea[]) AND ${OPENS}`;

const FIND_KEY_BY_ID = `
  SELECT ${CALLER_COLUMNS} FROM api_key k JOIN client c ON c.id = k.client_id
  WHERE k.id = $1::uuid AND ${OPENS}`;

/** Finds the callers of keys. */
@Injectable()
export class KeyCallersService {
  private readonly secretKeys: KeyLookUps<KeyRow>;
  private readonly ephemeralKeys: KeyLookUps<EphemeralRow & { sha256: string }>;
  private readonly remembered = new RememberedCallers();

  constructor(
    private readonly prisma: PrismaService,
    private readonly side: SidePrisma,
    private readonly uses: LastUsesService,
  ) {
    const prismas = { forPayments: prisma, forOthers: side };
    this.secretKeys = new KeyLookUps(prismas, { name: 'find_keys', sql: FIND_KEYS });
    this.ephemeralKeys = new KeyLookUps(prismas, { name: 'find_ephemeral_keys', sql: FIND_EPHEMERAL_KEYS });
  }

  /** Finds the caller of a key in the database. A revocation or a changed limit takes effect at once. */
  identify(key: string, timeoutMs = REQUEST_TIMEOUT_MS): Promise<Caller | undefined> {
    return this.lookUp(key, hashKey(key), 'forOthers', timeoutMs);
  }

  /** Finds the caller of a key, remembered or in the database. See `RememberedCallers`. */
  identifyForAdmission(
    key: string,
    timeoutMs: number,
    suffices: (caller: Caller) => boolean,
  ): Promise<Caller | undefined> {
    const sha256 = hashKey(key);
    const lookUp = () => this.lookUp(key, sha256, 'forPayments', timeoutMs);
    return this.remembered.find(sha256.toString('base64'), suffices, lookUp);
  }

  /**
   * Looks up a caller again. Undefined if its key is no longer valid.
   * @param timeoutMs the remaining wait of its request.
   * @throws DatabaseTooSlow
   */
  async lookUpAgain(before: Caller, timeoutMs: number): Promise<Caller | undefined> {
    const caller = await findAgain(this.prisma, before, timeoutMs);
    this.remembered.compare(before, caller);
    return caller;
  }

  /**
   * @throws Problem `ephemeral_key_ended` for a key that was valid once: routine for apps, so not a guess.
   */
  private async lookUp(
    key: string,
    sha256: Buffer,
    purpose: Purpose,
    timeoutMs: number,
  ): Promise<Caller | undefined> {
    if (isEphemeralKey(key)) {
      const askedAt = performance.now();
      const row = await this.ephemeralKeys.find(sha256, purpose, timeoutMs);
      return row && (ephemeralCallerOf(row, askedAt) ?? ended());
    }
    const row = await this.secretKeys.find(sha256, purpose, timeoutMs);
    if (!row) return undefined;
    this.uses.remember(row.keyId);
    return callerOf(row);
  }

  /** Finds the caller of a long response again. Undefined if its key is no longer valid. */
  peek(caller: Caller): Promise<Caller | undefined> {
    return findAgain(this.side, caller, REQUEST_TIMEOUT_MS);
  }
}

function ended(): never {
  throw new Problem('ephemeral_key_ended');
}

async function findAgain(
  prisma: PrismaService,
  { keyId, credential }: Caller,
  timeoutMs: number,
): Promise<Caller | undefined> {
  if (credential.kind === 'ephemeral') return findEphemeralById(prisma, credential.id, timeoutMs);
  const query = prisma.prepared<CallerRow>('find_key_by_id', FIND_KEY_BY_ID, [keyId]);
  const [row] = await withTimeout(query, timeoutMs);
  return row && callerOf(row);
}

/** An ephemeral key in any state, with its parent, its client and its person. */
interface EphemeralRow extends CallerRow {
  state: EphemeralKeyState;
  ephemeralKeyId: string;
  /** Null if the person was erased. */
  personName: string | null;
  ownOperations: string[];
  ownCountries: string[];
  /** Null allows all. */
  recipients: Uint8Array[] | null;
  ownMaxItemUsd: Usd;
  /** Remaining validity from the statement on, in ms. */
  validForMs: number;
}

const SELECT = `SELECT ${CALLER_COLUMNS}, ${STATE} AS state,
    e.id AS "ephemeralKeyId", encode(e.sha256, 'hex') AS sha256, p.name AS "personName",
    e.operations AS "ownOperations", e.countries AS "ownCountries", e.recipients,
    e.max_item_usd AS "ownMaxItemUsd",
    extract(epoch FROM least(e.expires_at, k.expires_at) - now())::float * 1000 AS "validForMs"
  FROM ${WITH_PARENT_AND_PERSON} JOIN client c ON c.id = k.client_id`;

const FIND_EPHEMERAL_KEYS = `${SELECT} WHERE e.sha256 = ANY ($1::bytea[])`;

const FIND_EPHEMERAL_KEY_BY_ID = `${SELECT} WHERE e.id = $1::uuid`;

/** Finds the caller of an ephemeral key by ID. Undefined if the key has ended. */
async function findEphemeralById(
  prisma: PrismaService,
  id: string,
  timeoutMs: number,
): Promise<Caller | undefined> {
  const askedAt = performance.now();
  const query = prisma.prepared<EphemeralRow>('find_ephemeral_key_by_id', FIND_EPHEMERAL_KEY_BY_ID, [id]);
  const [row] = await withTimeout(query, timeoutMs);
  return row && ephemeralCallerOf(row, askedAt);
}

/**
 * Returns the caller of an ephemeral key: its parent, narrowed to the rights of the key. The key loses every
 * right that the client loses.
 * @param askedAt start of the query, on the monotonic clock.
 * @returns undefined if the key has ended, or has no country left.
 */
function ephemeralCallerOf(row: EphemeralRow, askedAt: number): Caller | undefined {
  const { state, personName: name, ownOperations, ownCountries, recipients } = row;
  const parent = callerOf(row);
  const countries = narrowedTo(ownCountries, parent.limits.countries);
  if (state !== 'active' || name === null || countries === 'none') return undefined;
  const maxItemUsd = least(parent.limits.maxItemUsd, toDecimal(row.ownMaxItemUsd));
  const scopes = new Set(
    ownOperations.flatMap((operation) => (isOperation(operation) ? scopesOf(operation) : [])),
  );
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
    // The address list restricts the client's servers. A phone may be anywhere.
    limits: { ...parent.limits, countries, maxItemUsd, addresses: [] },
  };
}

/** Intersects the countries of a key and its client. An empty list allows all, so `none` marks no overlap. */
function narrowedTo(own: string[], ofClient: string[]): Limits['countries'] | 'none' {
  if (own.length === 0 || ofClient.length === 0) return own.length === 0 ? ofClient : own;
  const both = own.filter((country) => ofClient.includes(country));
  return both.length === 0 ? 'none' : both;
}

function least(a: Decimal | null, b: Decimal | null): Decimal | null {
  return a && b ? Decimal.min(a, b) : (a ?? b);
}
