import { v7 as uuidv7 } from 'uuid';
import { Timeouts } from '../platform/config/upstream-timeouts';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { Resolution, UNSETTLED } from '../operations/lifecycle';
import { canonical } from '../policy/content';
import { settle } from './resolutions';

/** The finding of the resolver about a call in doubt, from the upstream's own lists. */
export interface NewVerdict {
  intentId: string;
  verdict: Resolution | 'ambiguous';
  /** A sentence of the proxy. */
  reason: string;
  evidence: VerdictEvidence;
}

/** The evidence. It names nobody, because it is kept forever. */
export interface VerdictEvidence {
  /** The listings that were read (source_read). */
  reads: string[];
  transactions: VerdictTransaction[];
  /** Other calls that could have made these transactions. */
  calls: string[];
}

/** A transaction that a verdict is based on. */
export interface VerdictTransaction {
  read_id: string;
  ordinal: number;
  /** The position of its item. Null if that is not certain. */
  position: number | null;
  upstream_ref: string | null;
  upstream_id: string | null;
  batch_ref: string | null;
  at: string | null;
  status: string | null;
  amount_usd: string | null;
}

/**
 * Writes a verdict about a call in doubt. `confirmed` and `not_executed` settle the call in the same commit.
 * `ambiguous` leaves it to a person, and is written once as long as nothing new is known.
 * @returns false, and writes nothing, if the call is not in doubt any more, or if the verdict is not new.
 */
export async function insertVerdict(prisma: PrismaService, found: NewVerdict, timeouts: Timeouts): Promise<boolean> {
  const { intentId, verdict, reason } = found;
  return prisma.$transaction(async (tx) => {
    if (verdict === 'ambiguous') {
      if (!(await isInDoubt(tx, intentId)) || (await isSaid(tx, found))) return false;
    } else {
      const resolution = { intentId, supersedes: null, outcome: verdict, reason, by: null };
      if (!(await settle(tx, resolution, timeouts))) return false;
    }
    await tx.$executeRaw`
      INSERT INTO verdict (id, intent_id, verdict, reason, evidence)
      VALUES (${uuidv7()}::uuid, ${intentId}::uuid, ${verdict}, ${reason}, ${canonical(found.evidence)}::json)`;
    return true;
  });
}

async function isInDoubt(tx: Prisma.TransactionClient, intentId: string): Promise<boolean> {
  const rows = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM call_state WHERE call_id = ${intentId}::uuid AND state = ANY (${UNSETTLED}::text[])`;
  return rows.length > 0;
}

/** Compares verdicts without the ID of the listing, because every read has another one. */
async function isSaid(tx: Prisma.TransactionClient, { intentId, reason, evidence }: NewVerdict): Promise<boolean> {
  const [last] = await tx.$queryRaw<Pick<NewVerdict, 'verdict' | 'reason' | 'evidence'>[]>`
    SELECT verdict, reason, evidence FROM verdict WHERE intent_id = ${intentId}::uuid ORDER BY id DESC LIMIT 1`;
  if (last?.verdict !== 'ambiguous' || last.reason !== reason) return false;
  return substanceOf(last.evidence) === substanceOf(evidence);
}

function substanceOf({ transactions, calls }: NewVerdict['evidence']): string {
  const seen = transactions.map(({ read_id: _, ordinal: __, ...transaction }) => canonical(transaction));
  return canonical({ calls: [...calls].sort(), seen: seen.sort() });
}
