import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { clock } from '../../platform/database/clock';
import { REQUEST_PATIENCE_MS, withPatience } from '../../platform/database/patience';
import { PrismaService } from '../../platform/database/prisma.service';
import { SidePrisma } from '../../platform/database/side-prisma';
import { Caller } from './call';
import { CALLER_COLUMNS, CallerRow, callerOf } from './caller-row';
import { OPENS } from '../clients/key';
import { KeyLookUps, MAX_SEEN, Purpose } from './key-look-ups';

/** "Last used" is shown to people, so a precision of a minute suffices. It saves a write per request. */
const LAST_USE_RESOLUTION_MS = 60_000;

/** Admission does not check the person of a key, which nothing but SQL by hand can change. It counts after this time. */
const REMEMBERED_FOR_MS = 10_000;

type KeyRow = CallerRow & { sha256: string };

const FIND_KEYS = `
  SELECT encode(k.sha256, 'hex') AS sha256, ${CALLER_COLUMNS}
  FROM api_key k JOIN client c ON c.id = k.client_id
  WHERE k.sha256 = ANY ($1::bytea[]) AND ${OPENS}`;

const FIND_KEY_BY_ID = `
  SELECT ${CALLER_COLUMNS} FROM api_key k JOIN client c ON c.id = k.client_id WHERE k.id = $1::uuid AND ${OPENS}`;

/** Finds the caller that a key belongs to. */
@Injectable()
export class CallersService {
  private readonly logger = new Logger('Callers');
  /** By the monotonic clock, in milliseconds. */
  private readonly lastUseWritten = new Map<string, number>();

  private readonly lookUps: KeyLookUps<KeyRow>;

  private readonly remembered = new LRUCache<string, Caller>({ max: MAX_SEEN, ttl: REMEMBERED_FOR_MS });

  constructor(
    private readonly prisma: PrismaService,
    private readonly side: SidePrisma,
  ) {
    this.lookUps = new KeyLookUps({ forPayments: prisma, forOthers: side }, { name: 'find_keys', sql: FIND_KEYS });
  }

  /** Finds the caller of a key in the database, so that a revocation or a changed limit takes effect at once. */
  identify(keySha256: Buffer, patienceMs = REQUEST_PATIENCE_MS): Promise<Caller | undefined> {
    return this.lookUp(keySha256, 'forOthers', patienceMs);
  }

  /**
   * Finds the caller of a key, without the database if it is remembered. Only for requests that admission decides about,
   * because admission checks the caller's rights again.
   * @param mayAsk decides whether a remembered caller may ask. A caller that may not is looked up again, so that no
   * request is refused by rights that have changed.
   */
  async identifyForAdmission(
    keySha256: Buffer,
    patienceMs: number,
    mayAsk: (caller: Caller) => boolean,
  ): Promise<Caller | undefined> {
    const name = keySha256.toString('base64');
    const remembered = this.remembered.get(name);
    if (remembered && mayAsk(remembered)) return remembered;
    const caller = await this.lookUp(keySha256, 'forPayments', patienceMs);
    this.remembered.set(name, caller);
    return caller;
  }

  /**
   * Looks up a caller again. Undefined if its key is no longer valid.
   * @param patienceMs how long its request may still wait.
   * @throws DatabaseTooSlow
   */
  async lookUpAgain({ keyId, rights }: Caller, patienceMs: number): Promise<Caller | undefined> {
    const caller = await findById(this.prisma, keyId, patienceMs);
    if (caller?.rights !== rights) this.remembered.clear(); // Rights change rarely, and then often those of several callers.
    return caller;
  }

  private async lookUp(keySha256: Buffer, purpose: Purpose, patienceMs: number): Promise<Caller | undefined> {
    const row = await this.lookUps.find(keySha256, purpose, patienceMs);
    if (!row) return undefined;
    this.rememberUse(row.keyId);
    return callerOf(row);
  }

  /** Finds the caller of a key by its ID, for a long response. Undefined if the key is no longer valid. */
  byKeyId(keyId: string): Promise<Caller | undefined> {
    return findById(this.side, keyId, REQUEST_PATIENCE_MS);
  }

  private rememberUse(keyId: string): void {
    const now = performance.now();
    if (now - (this.lastUseWritten.get(keyId) ?? -Infinity) < LAST_USE_RESOLUTION_MS) return;
    this.lastUseWritten.set(keyId, now);
    this.side.apiKey
      .update({ where: { id: keyId }, data: { lastUsedAt: clock.now() } })
      .catch(() => this.logger.warn({ key_id: keyId }, 'last use of a key not recorded'));
  }
}

async function findById(prisma: PrismaService, keyId: string, patienceMs: number): Promise<Caller | undefined> {
  const finding = prisma.prepared<CallerRow>('find_key_by_id', FIND_KEY_BY_ID, [keyId]);
  const [row] = await withPatience(finding, patienceMs);
  return row && callerOf(row);
}
