import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { clock } from '../../platform/database/clock';
import { GroupCommit } from '../../platform/database/pools/group-commit';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { REQUEST_TIMEOUT_MS } from '../../platform/database/pools/timeouts';
import { TYPES } from '../../platform/database/rows/binary-array';
import { Caller, hasEnded } from './caller';

/** Batch size. Above the number of callers that wait at once. */
const MAX_LOOK_UPS = 1_000;

/** Cache size. Above the number of keys in use. The least recently used are evicted. */
export const MAX_KNOWN_KEYS = 10_000;

interface HashedRow {
  sha256: string;
}

type LookUps = GroupCommit<Buffer, HashedRow | undefined>;

/** The pool of a look-up. Payments have their own connections. */
export type Purpose = 'forPayments' | 'forOthers';

/** A statement that finds keys by an array of their SHA-256. Its rows carry the SHA-256 in hexadecimal. */
interface Statement {
  name: string;
  sql: string;
}

/** Looks up keys of one kind. Every request waits for its key, so all waiting keys share one statement. */
export class KeyLookUps<Row extends HashedRow> {
  /** SHA-256 of the keys found by their last look-up. */
  private readonly known = new LRUCache<string, true>({ max: MAX_KNOWN_KEYS });
  /** Separate queues, so a flood of unknown keys uses one statement at a time and never delays known ones. */
  private readonly lookUps: Record<Purpose, { known: LookUps; unknown: LookUps }>;

  constructor(prismas: Record<Purpose, PrismaService>, statement: Statement) {
    const on = (prisma: PrismaService) => ({
      known: lookUpsOn(prisma, statement),
      unknown: lookUpsOn(prisma, statement),
    });
    this.lookUps = { forPayments: on(prismas.forPayments), forOthers: on(prismas.forOthers) };
  }

  async find(sha256: Buffer, purpose: Purpose, timeoutMs: number): Promise<Row | undefined> {
    const name = sha256.toString('base64');
    const { known, unknown } = this.lookUps[purpose];
    const row = await (this.known.has(name) ? known : unknown).add(sha256, timeoutMs);
    if (row) this.known.set(name, true);
    else this.known.delete(name);
    return row as Row | undefined; // the type of its statement's rows
  }
}

function lookUpsOn(prisma: PrismaService, { name, sql }: Statement): LookUps {
  const lookUp = async (hashes: Buffer[]) => {
    const rows = await prisma.prepared<HashedRow>(name, sql, [TYPES.bytea.array(hashes)]);
    const bySha256 = new Map(rows.map((row) => [row.sha256, row]));
    return hashes.map((hash) => bySha256.get(hash.toString('hex')));
  };
  return new GroupCommit(lookUp, () => 1, MAX_LOOK_UPS, { timeoutMs: REQUEST_TIMEOUT_MS });
}

/** Lifetime of a remembered caller. A manual SQL change of a key's person takes effect after it. */
const REMEMBERED_FOR_MS = 10_000;

/**
 * Caches the callers of keys or tokens, to save a query per request. Only for requests that pass admission,
 * which rechecks the credential and the rights.
 */
export class RememberedCallers {
  private readonly callers = new LRUCache<string, Caller>({ max: MAX_KNOWN_KEYS, ttl: REMEMBERED_FOR_MS });

  /**
   * Returns the remembered caller, or looks it up and remembers it.
   * @param sha256 SHA-256 of its key or token.
   * @param suffices decides whether a remembered caller suffices. Otherwise it is looked up again, so stale
   * rights never refuse a request.
   */
  async find<Result extends Caller | undefined>(
    sha256: string,
    suffices: (caller: Caller) => boolean,
    lookUp: () => Promise<Result>,
  ): Promise<Caller | Result> {
    const remembered = this.callers.get(sha256);
    if (remembered && !hasEnded(remembered) && suffices(remembered)) return remembered;
    const caller = await lookUp();
    this.callers.set(sha256, caller); // undefined removes the entry
    return caller;
  }

  /**
   * Compares a caller with the one found by admission, and clears the cache on a difference. Rights change
   * rarely, and often for several callers together.
   * @param now undefined if the key or token is no longer valid.
   */
  compare(before: Caller, now: Caller | undefined): void {
    if (now?.rights !== before.rights) this.callers.clear();
  }
}

/** Resolution of "last used". A minute suffices for people, and saves a write per request. */
const RESOLUTION_MS = 60_000;

/** Records the last use of keys. */
@Injectable()
export class LastUsesService {
  private readonly logger = new Logger('Callers');
  /** Time of the last write by key ID, on the monotonic clock, in ms. */
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
