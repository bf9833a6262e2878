import { newId } from '../platform/database/ids';
import { Timeouts } from '../platform/config/upstream-timeouts';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { Resolution } from '../operations/lifecycle';
import { ENTRIES, Entry, expectedEntry } from '../operations/settlement';
import { canonical } from '../policy/content';
import { NewEntry, NewSettlement } from './records';
import { hasDoubt, SettledCall, settleWithin } from './settlements';

/** The finding of the resolver about a call in doubt, from the upstream's own lists. */
export interface NewVerdict {
  intentId: string;
  verdict: Resolution | 'ambiguous';
  /** A sentence of the proxy. */
  reason: string;
  evidence: VerdictEvidence;
  /**
   * What became of single payouts. An ambiguous verdict may settle some and leave the others. Without entries, the
   * verdict is about all of them.
   */
  entries?: NewEntry[];
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
 * Records a verdict about a call in doubt. It settles the payouts that are certain. `ambiguous` leaves the others to a
 * person, and is written once as long as nothing new is known.
 * @returns false, and writes nothing, if the call is not in doubt any more, or if the verdict is not new.
 */
export async function insertVerdict(prisma: PrismaService, found: NewVerdict, timeouts: Timeouts): Promise<boolean> {
  return prisma.$transaction(async (tx) => {
    let isInDoubt = false;
    const settled = await settleWithin(tx, found.intentId, timeouts, (call) => {
      isInDoubt = call.isInDoubt || call.state === 'in_progress' || hasDoubt(call);
      return call.isInDoubt || hasDoubt(call) ? settlementBy(found, call) : undefined;
    });
    const isSettled = settled === 'written';
    if (found.verdict !== 'ambiguous') return isSettled;
    if (!isInDoubt || (await isSaid(tx, found))) return isSettled;
    const { intentId, verdict, reason, evidence } = found;
    await tx.$executeRaw`
      INSERT INTO verdict (id, intent_id, verdict, reason, evidence)
      VALUES (${newId()}::uuid, ${intentId}::uuid, ${verdict}, ${reason}, ${canonical(evidence)}::json)`;
    return true;
  });
}

/** Returns what a verdict settles: payouts of a call that are in doubt. */
function settlementBy(found: NewVerdict, call: SettledCall): NewSettlement | undefined {
  const { intentId, verdict, reason, evidence } = found;
  const { reads, calls } = evidence;
  const inDoubt = call.items.filter(({ entry }) => !ENTRIES[entry].known);
  const open = new Set(inDoubt.map(({ position }) => position));
  const all = () => inDoubt.map(({ position }): NewEntry => ({ position, entry: entryBy(verdict, call) }));
  const entries = (found.entries ?? (verdict === 'ambiguous' ? [] : all())).filter(({ position }) =>
    open.has(position),
  );
  // The answer of a call in doubt may have settled all of its payouts.
  const isWhole = call.isInDoubt && inDoubt.length === 0 && verdict !== 'ambiguous';
  if (entries.length === 0 && !isWhole) return undefined;
  const settlement: NewSettlement = {
    intentId,
    source: 'resolver',
    reason,
    by: null,
    entries,
    evidence: { reads, calls },
  };
  return isWhole && call.items.length === 0 ? { ...settlement, resolution: verdict } : settlement;
}

function entryBy(verdict: NewVerdict['verdict'], { intent }: SettledCall): Entry {
  return verdict === 'confirmed' ? expectedEntry(intent.operation) : 'not_executed';
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
