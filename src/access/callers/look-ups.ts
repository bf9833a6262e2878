import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { TYPES } from '../../platform/database/rows/binary-array';
import { clock } from '../../platform/database/clock';
import { GroupCommit } from '../../platform/database/pools/group-commit';
import { REQUEST_PATIENCE_MS } from '../../platform/database/pools/patience';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { Caller, hasEnded } from './caller';

/** More callers than ever ask at once. */
const MAX_LOOK_UPS = 1_000;

/** More keys than are in use. Beyond that, the least recently used are forgotten. */
export const MAX_SEEN = 10_000;

interface Hashed {
  sha256: string;
}

type LookUps = GroupCommit<Buffer, Hashed | undefined>;

/** Payments have connections of their own. */
export type Purpose = 'forPayments' | 'forOthers';

/** A statement that finds keys by an array of their SHA-256, with the hexadecimal SHA-256 of each. */
interface Statement {
  name: string;
  sql: string;
}

/** Looks up keys of one kind. Every request waits for it, so all waiting keys share one statement. */
export class KeyLookUps<Row extends Hashed> {
  /** SHA-256 of keys that were known when last looked up. */
  private readonly seen = new LRUCache<string, true>({ max: MAX_SEEN });
  /** Keys seen before never wait behind unknown keys. A flood of wrong keys uses one statement at a time. */
  private readonly lookUps: Record<Purpose, { seen: LookUps; unseen: LookUps }>;

  constructor(prismas: Record<Purpose, PrismaService>, statement: Statement) {
    const on = (prisma: PrismaService) => ({
      seen: lookUpsOn(prisma, statement),
      unseen: lookUpsOn(prisma, statement),
    });
    this.lookUps = { forPayments: on(prismas.forPayments), forOthers: on(prismas.forOthers) };
  }

  async find(sha256: Buffer, purpose: Purpose, patienceMs: number): Promise<Row | undefined> {
    const name = sha256.toString('base64');
    const { seen, unseen } = this.lookUps[purpose];
    const row = await (this.seen.has(name) ? seen : unseen).add(sha256, patienceMs);
    if (row) this.seen.set(name, true);
    else this.seen.delete(name);
    return row as Row | undefined; // its statement returns such rows
  }
}

function lookUpsOn(prisma: PrismaService, { name, sql }: Statement): LookUps {
  const lookUp = async (hashes: Buffer[]) => {
    const rows = await prisma.prepared<Hashed>(name, sql, [TYPES.bytea.array(hashes)]);
    const bySha256 = new Map(rows.map((row) => [row.sha256, row]));
    return hashes.map((hash) => bySha256.get(hash.toString('hex')));
  };
  return new GroupCommit(lookUp, () => 1, MAX_LOOK_UPS, { patienceMs: REQUEST_PATIENCE_MS });
}

/** Admission does not check the person of a key, which nothing but SQL by hand can change. It counts after this time. */
const REMEMBERED_FOR_MS = 10_000;

/**
 * Remembers the callers of keys or tokens, so that their next requests need not ask the database for them. Only for requests
 * that admission decides about, because admission checks whether the caller is still valid and has the same rights.
 */
export class RememberedCallers {
  private readonly callers = new LRUCache<string, Caller>({ max: MAX_SEEN, ttl: REMEMBERED_FOR_MS });

  /**
   * Returns a caller that is remembered, or looks it up and remembers it.
   * @param sha256 of its key or token.
   * @param mayAsk decides whether a remembered caller may ask. A caller that may not is looked up again, so that no request is
   * refused by rights that have changed.
   */
  async find<Found extends Caller | undefined>(
    sha256: string,
    mayAsk: (caller: Caller) => boolean,
    lookUp: () => Promise<Found>,
  ): Promise<Caller | Found> {
    const remembered = this.callers.get(sha256);
    if (remembered && !hasEnded(remembered) && mayAsk(remembered)) return remembered;
    const caller = await lookUp();
    this.callers.set(sha256, caller); // undefined forgets it
    return caller;
  }

  /**
   * Compares a caller with what was found for admission, and forgets all if it has changed. Rights change rarely, and then often
   * those of several callers.
   * @param now undefined if its key or token is no longer valid.
   */
  compare(before: Caller, now: Caller | undefined): void {
    if (now?.rights !== before.rights) this.callers.clear();
  }
}

/** "Last used" is shown to people, so a precision of a minute suffices. It saves a write per request. */
const RESOLUTION_MS = 60_000;

/** Writes when keys were last used. */
@Injectable()
export class LastUsesService {
  private readonly logger = new Logger('Callers');
  /** By the monotonic clock, in milliseconds. */
  private readonly written = new Map<string, number>();

  constructor(private readonly side: SidePrisma) {}

  remember(keyId: string): void {
    const now = performance.now();
    if (now - (this.written.get(keyId) ?? -Infinity) < RESOLUTION_MS) return;
    this.written.set(keyId, now);
    this.side.apiKey
      .update({ where: { id: keyId }, data: { lastUsedAt: clock.now() } })
      .catch(() => this.logger.warn({ key_id: keyId }, 'last use of a key not recorded'));
  }
}
