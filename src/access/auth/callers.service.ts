import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { LimitsRow, limitsOf } from '../clients/limits';
import { Scope } from '../../operations/scopes';
import { clock } from '../../platform/database/clock';
import { GroupCommit } from '../../platform/database/group-commit';
import { TYPES } from '../../platform/database/binary-array';
import { REQUEST_PATIENCE_MS, withPatience } from '../../platform/database/patience';
import { PrismaService } from '../../platform/database/prisma.service';
import { SidePrisma } from '../../platform/database/side-prisma';
import { Caller } from './call';
import { OPENS } from '../clients/key';

/** "Last used" is shown to people, so a precision of a minute suffices. It saves a write per request. */
const LAST_USE_RESOLUTION_MS = 60_000;

/** More callers than ever ask at once. */
const MAX_LOOK_UPS = 1_000;

/** More keys than are in use. Beyond that, the least recently used are forgotten. */
const MAX_SEEN = 10_000;

/** Admission does not check the person of a key, which nothing but SQL by hand can change. It counts after this time. */
const REMEMBERED_FOR_MS = 10_000;

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

type KeyRow = CallerRow & { sha256: string };
type LookUps = GroupCommit<Buffer, KeyRow | undefined>;

/** The columns of a key `k` (api_key) and its client `c`. */
export const CALLER_COLUMNS = `k.id AS "keyId", k.person, c.id AS "clientId", c.xmin::text AS rights, c.name AS "clientName", c.account, c.scopes, c.operations,
    c.daily_cap_usd AS "dailyCapUsd", c.monthly_cap_usd AS "monthlyCapUsd", c.max_item_usd AS "maxItemUsd",
    c.max_call_usd AS "maxCallUsd", c.approval_over_usd AS "approvalOverUsd", c.max_items AS "maxItems",
    c.approval_over_recipient_day_usd AS "approvalOverRecipientDayUsd", c.approval_over_day_usd AS "approvalOverDayUsd",
    c.max_recipient_day_usd AS "maxRecipientDayUsd", c.hold_duplicates_days AS "holdDuplicatesDays",
    c.requests_per_minute AS "requestsPerMinute", c.countries, c.addresses, c.origins,
    c.require_idempotency_key AS "requireIdempotencyKey", c.beneficiaries_only AS "beneficiariesOnly",
    c.beneficiary_cool_off_seconds AS "beneficiaryCoolOffSeconds", c.blocks_recipients AS "blocksRecipients",
    c.person_daily_cap_usd AS "personDailyCapUsd", c.person_monthly_cap_usd AS "personMonthlyCapUsd",
    c.person_max_item_usd AS "personMaxItemUsd", c.person_requests_per_minute AS "personRequestsPerMinute"`;

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

  /** SHA-256 of keys that were valid when last looked up. */
  private readonly seen = new LRUCache<string, true>({ max: MAX_SEEN });
  /** Keys seen before never wait behind unknown keys. A flood of wrong keys uses one statement at a time. */
  private readonly lookUps: Record<'forPayments' | 'forOthers', { seen: LookUps; unseen: LookUps }>;

  private readonly remembered = new LRUCache<string, Caller>({ max: MAX_SEEN, ttl: REMEMBERED_FOR_MS });

  constructor(
    private readonly prisma: PrismaService,
    private readonly side: SidePrisma,
  ) {
    this.lookUps = {
      forPayments: { seen: lookUpsOn(prisma), unseen: lookUpsOn(prisma) },
      forOthers: { seen: lookUpsOn(side), unseen: lookUpsOn(side) },
    };
  }

  /** Finds the caller of a key in the database, so that a revocation or a changed limit takes effect at once. */
  identify(keySha256: Buffer, patienceMs = REQUEST_PATIENCE_MS): Promise<Caller | undefined> {
    return this.lookUpOne(keySha256, keySha256.toString('base64'), { patienceMs, ...this.lookUps.forOthers });
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
    const caller = await this.lookUpOne(keySha256, name, { patienceMs, ...this.lookUps.forPayments });
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

  private async lookUpOne(
    keySha256: Buffer,
    name: string,
    { seen, unseen, patienceMs }: CallersService['lookUps']['forOthers'] & { patienceMs: number },
  ): Promise<Caller | undefined> {
    const row = await (this.seen.has(name) ? seen : unseen).add(keySha256, patienceMs);
    if (!row) {
      this.seen.delete(name);
      return undefined;
    }
    this.seen.set(name, true);
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

/** Looks up all waiting keys in one statement, because every request waits for it. */
function lookUpsOn(prisma: PrismaService): LookUps {
  const lookUp = async (hashes: Buffer[]) => {
    const rows = await prisma.prepared<KeyRow>('find_keys', FIND_KEYS, [TYPES.bytea.array(hashes)]);
    const bySha256 = new Map(rows.map((row) => [row.sha256, row]));
    return hashes.map((hash) => bySha256.get(hash.toString('hex')));
  };
  return new GroupCommit(lookUp, () => 1, MAX_LOOK_UPS, { patienceMs: REQUEST_PATIENCE_MS });
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
