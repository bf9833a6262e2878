import { Injectable } from '@nestjs/common';
import { REQUEST_PATIENCE_MS, withPatience } from '../../platform/database/patience';
import { PrismaService } from '../../platform/database/prisma.service';
import { SidePrisma } from '../../platform/database/side-prisma';
import { Problem } from '../../platform/errors/problem';
import { hashKey, isEphemeralKey, OPENS } from '../clients/key';
import { Caller } from './caller';
import { CALLER_COLUMNS, CallerRow, callerOf } from './caller-row';
import { EphemeralRow, ephemeralCallerOf, FIND_EPHEMERAL_KEYS, findEphemeralById } from './ephemeral-callers';
import { KeyLookUps, Purpose } from './key-look-ups';
import { LastUsesService } from './last-uses.service';
import { RememberedCallers } from './remembered-callers';

type KeyRow = CallerRow & { sha256: string };

const FIND_KEYS = `
  SELECT encode(k.sha256, 'hex') AS sha256, ${CALLER_COLUMNS}
  FROM api_key k JOIN client c ON c.id = k.client_id
  WHERE k.sha256 = ANY ($1::bytea[]) AND ${OPENS}`;

const FIND_KEY_BY_ID = `
  SELECT ${CALLER_COLUMNS} FROM api_key k JOIN client c ON c.id = k.client_id WHERE k.id = $1::uuid AND ${OPENS}`;

/** Finds the caller that a key belongs to. */
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

  /** Finds the caller of a key in the database, so that a revocation or a changed limit takes effect at once. */
  identify(key: string, patienceMs = REQUEST_PATIENCE_MS): Promise<Caller | undefined> {
    return this.lookUp(key, hashKey(key), 'forOthers', patienceMs);
  }

  /** The same without the database if it is remembered. See `RememberedCallers`. */
  identifyForAdmission(
    key: string,
    patienceMs: number,
    mayAsk: (caller: Caller) => boolean,
  ): Promise<Caller | undefined> {
    const sha256 = hashKey(key);
    const lookUp = () => this.lookUp(key, sha256, 'forPayments', patienceMs);
    return this.remembered.find(sha256.toString('base64'), mayAsk, lookUp);
  }

  /**
   * Looks up a caller again. Undefined if its key is no longer valid.
   * @param patienceMs how long its request may still wait.
   * @throws DatabaseTooSlow
   */
  async lookUpAgain(before: Caller, patienceMs: number): Promise<Caller | undefined> {
    const caller = await findAgain(this.prisma, before, patienceMs);
    this.remembered.compare(before, caller);
    return caller;
  }

  /** @throws Problem `ephemeral_key_ended` for a key that was valid once. Apps meet it every few minutes, and guess nothing. */
  private async lookUp(key: string, sha256: Buffer, purpose: Purpose, patienceMs: number): Promise<Caller | undefined> {
    if (isEphemeralKey(key)) {
      const askedAt = performance.now();
      const found = await this.ephemeralKeys.find(sha256, purpose, patienceMs);
      return found && (ephemeralCallerOf(found, askedAt) ?? ended());
    }
    const row = await this.secretKeys.find(sha256, purpose, patienceMs);
    if (!row) return undefined;
    this.uses.remember(row.keyId);
    return callerOf(row);
  }

  /** Finds the caller of a long response again. Undefined if its key is no longer valid. */
  peek(caller: Caller): Promise<Caller | undefined> {
    return findAgain(this.side, caller, REQUEST_PATIENCE_MS);
  }
}

function ended(): never {
  throw new Problem('ephemeral_key_ended');
}

async function findAgain(
  prisma: PrismaService,
  { keyId, credential }: Caller,
  patienceMs: number,
): Promise<Caller | undefined> {
  if (credential.kind === 'ephemeral') return findEphemeralById(prisma, credential.id, patienceMs);
  const finding = prisma.prepared<CallerRow>('find_key_by_id', FIND_KEY_BY_ID, [keyId]);
  const [row] = await withPatience(finding, patienceMs);
  return row && callerOf(row);
}
