import { LRUCache } from 'lru-cache';
import { TYPES } from '../../platform/database/binary-array';
import { GroupCommit } from '../../platform/database/group-commit';
import { REQUEST_PATIENCE_MS } from '../../platform/database/patience';
import { PrismaService } from '../../platform/database/prisma.service';

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
