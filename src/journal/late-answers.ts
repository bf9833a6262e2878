import { Timeouts } from '../platform/config/upstream-timeouts';
import { PrismaService } from '../platform/database/prisma.service';
import { STATES } from '../operations/lifecycle';
import { ENTRIES, Entry } from '../operations/settlement';
import { NewEntry, NewOutcome, NewSettlement, UpstreamItem, evidenceOfTransaction } from './records';
import { settle, SettledCall } from './settlements';
import { LedgerRecords } from './ledger';

/** The parts of an answer that settle a call. One entry stands for all of its payouts. */
export interface LateAnswer extends Pick<NewOutcome, 'intentId' | 'kind'> {
  entries?: Entry | Entry[] | undefined;
  items: Pick<UpstreamItem, 'position' | 'upstreamRef' | 'upstreamId' | 'batchRef' | 'status'>[];
}

/** How an answer of each kind settles its call. One that says nothing settles nothing. */
const SETTLES = { yes: 'confirmed', no: 'not_executed', open: undefined } as const;

/**
 * Returns which of these calls were settled before their answers came, so that an outcome without an answer is on record.
 * A call that its answer has settled since is left out: what was settled later outweighs the answer.
 */
export async function abandonedAmong(prisma: PrismaService, ids: string[]): Promise<ReadonlySet<string>> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT intent_id::text AS id FROM outcome
    WHERE intent_id = ANY (${ids}::uuid[]) AND kind = 'unknown' AND record::json ->> 'failure' = 'abandoned'
      AND NOT EXISTS (SELECT FROM settlement s WHERE s.intent_id = outcome.intent_id AND s.record::json ->> 'source' = 'answer')`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Settles a call by an answer that came after the call was settled.
 * @throws Error if others settled the call each time that this was tried. Whoever keeps the answer tries again.
 */
export async function settleByAnswer(prisma: PrismaService, answer: LateAnswer, timeouts: Timeouts): Promise<void> {
  const settled = await settle(prisma, answer.intentId, timeouts, (call) => settlementBy(answer, call));
  if (settled === 'overtaken') throw new Error('the call was settled by others at the same moment');
}

function settlementBy(answer: LateAnswer, { items, resolution: before }: SettledCall): NewSettlement | undefined {
  const { intentId, kind, entries: told } = answer;
  const said = SETTLES[STATES[kind].executed];
  const entries = items.flatMap(({ position, entry: old }): NewEntry[] => {
    const entry = typeof told === 'string' ? told : told?.[position];
    if (entry === undefined || entry === old || !ENTRIES[entry].known) return [];
    // The upstream has listed this payout since. That outweighs an answer that denies it.
    if (entry === 'not_executed' && ENTRIES[old].known) return [];
    return [{ position, entry, transaction: transactionOf(answer, position) }];
  });
  if (entries.length === 0 && (items.length > 0 || said === undefined || said === before)) return undefined;
  const settlement: NewSettlement = {
    intentId,
    source: 'answer',
    reason: "The upstream's answer came after the call had been settled.",
    by: null,
    entries,
    evidence: { reads: [], calls: [] },
  };
  return items.length === 0 && said ? { ...settlement, resolution: said } : settlement;
}

function transactionOf({ items }: LateAnswer, position: number): NewEntry['transaction'] {
  const found = items.find((item) => item.position === position);
  return found && evidenceOfTransaction(found, null);
}

/**
 * Records that the answer of a call could not be handed over, because its caller hung up or was told that the outcome is
 * unknown while it was written. An
 * outcome that is not a success needs no such record, because its call was not paid, or is in doubt.
 */
export async function recordUndelivered(prisma: PrismaService, callId: string, timeouts: Timeouts): Promise<void> {
  await settle(prisma, callId, timeouts, settlementOfUndelivered);
}

function settlementOfUndelivered({ intent, outcome }: SettledCall): NewSettlement | undefined {
  if (outcome?.kind !== 'succeeded') return undefined;
  return {
    intentId: intent.id,
    source: 'answer',
    reason: "The answer was not handed over: the caller's connection had closed, or the outcome was recorded too late.",
    by: null,
    entries: [],
    evidence: { reads: [], calls: [] },
    undelivered: true,
  };
}

/** Returns whether the caller of a call hung up before its answer was handed over. */
export function isUndelivered({ outcome, settlements }: Pick<LedgerRecords, 'outcome' | 'settlements'>): boolean {
  return outcome?.undelivered === true || settlements.some(({ undelivered }) => undelivered === true);
}
