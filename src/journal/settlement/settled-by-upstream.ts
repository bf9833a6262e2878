import { STATES, Resolution } from '../../operations/lifecycle/lifecycle';
import { ENTRIES, Entry, expectedEntry } from '../../operations/lifecycle/settlement';
import { Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { canonical } from '../../policy/content';
import {
  NewEntry,
  NewOutcome,
  NewSettlement,
  UpstreamItem,
  evidenceOfTransaction,
  TransactionEvidence,
} from '../records/records';
import { LedgerRecords } from './ledger';
import { hasDoubt, SettledCall } from './settled-call';
import { settle, settleAllWithin } from './settlements';

/** The parts of an answer that settle a call. One entry is for all of its payouts. */
export interface LateAnswer extends Pick<NewOutcome, 'intentId' | 'kind'> {
  entries?: Entry | Entry[] | undefined;
  items: Pick<UpstreamItem, 'position' | 'upstreamRef' | 'upstreamId' | 'batchRef' | 'status'>[];
}

/** Resolution of a call by the kind of its answer. Undefined settles nothing. */
const SETTLES = { yes: 'confirmed', no: 'not_executed', open: undefined } as const;

/**
 * Returns the calls among these that were settled before their answers arrived and have an outcome without an
 * answer. Omits calls that their answer has settled since: a later settlement outweighs the answer.
 */
export async function abandonedAmong(prisma: PrismaService, ids: string[]): Promise<ReadonlySet<string>> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT intent_id::text AS id FROM outcome
    WHERE intent_id = ANY (${ids}::uuid[]) AND kind = 'unknown' AND record::json ->> 'failure' = 'abandoned'
      AND NOT EXISTS (
        SELECT FROM settlement s
        WHERE s.intent_id = outcome.intent_id AND s.record::json ->> 'source' = 'answer')`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Settles a call by an answer that arrived after a settlement.
 * @throws Error if other settlements overtook every attempt. The keeper of the answer retries.
 */
export async function settleByAnswer(
  prisma: PrismaService,
  answer: LateAnswer,
  timeouts: Timeouts,
): Promise<void> {
  const settled = await settle(prisma, answer.intentId, timeouts, (call) => settlementBy(answer, call));
  if (settled === 'overtaken') throw new Error('the call was settled by others at the same moment');
}

function settlementBy(
  answer: LateAnswer,
  { items, resolution: before }: SettledCall,
): NewSettlement | undefined {
  const { intentId, kind, entries: answered } = answer;
  const said = SETTLES[STATES[kind].executed];
  const entries = items.flatMap(({ position, entry: old }): NewEntry[] => {
    const entry = typeof answered === 'string' ? answered : answered?.[position];
    if (entry === undefined || entry === old || !ENTRIES[entry].known) return [];
    // The upstream has listed this payout since. The listing outweighs an answer that denies it.
    if (entry === 'not_executed' && ENTRIES[old].known) return [];
    return [{ position, entry, transaction: transactionOf(answer, position) }];
  });
  if (entries.length === 0 && (items.length > 0 || said === undefined || said === before)) return undefined;
  const settlement: NewSettlement = {
    intentId,
    source: 'answer',
    reason: "The upstream's answer came after the call had been settled.",
    entries,
  };
  return items.length === 0 && said ? { ...settlement, resolution: said } : settlement;
}

function transactionOf({ items }: LateAnswer, position: number): NewEntry['transaction'] {
  const found = items.find((item) => item.position === position);
  return found && evidenceOfTransaction(found, null);
}

/**
 * Records that the answer of a call was not handed over: its caller hung up, or was told that the outcome is
 * unknown. An outcome other than a success needs no such record, because its call is not paid.
 */
export async function recordUndelivered(
  prisma: PrismaService,
  callId: string,
  timeouts: Timeouts,
): Promise<void> {
  await settle(prisma, callId, timeouts, settlementOfUndelivered);
}

function settlementOfUndelivered({ intent, outcome }: SettledCall): NewSettlement | undefined {
  if (outcome?.kind !== 'succeeded') return undefined;
  return {
    intentId: intent.id,
    source: 'answer',
    reason:
      "The answer was not handed over: the caller's connection had closed, or the outcome was recorded " +
      'too late.',
    entries: [],
    undelivered: true,
  };
}

/** Returns whether the caller of a call hung up before its answer was handed over. */
export function isUndelivered({
  outcome,
  settlements,
}: Pick<LedgerRecords, 'outcome' | 'settlements'>): boolean {
  return outcome?.undelivered === true || settlements.some(({ undelivered }) => undelivered === true);
}

/** The resolver's verdict about a call in doubt, from the upstream's own lists. */
export interface NewVerdict {
  intentId: string;
  verdict: Resolution | 'ambiguous';
  /** A sentence by the proxy. */
  reason: string;
  evidence: VerdictEvidence;
  /**
   * Entries of single payouts. An ambiguous verdict may settle some and leave the others. Without entries,
   * the verdict applies to all of them.
   */
  entries?: NewEntry[];
}

/** The evidence. It names no person, because it is kept forever. */
export interface VerdictEvidence {
  /** The listings that were read (source_read). */
  reads: string[];
  transactions: VerdictTransaction[];
  /** Other calls that could have made these transactions. */
  calls: string[];
}

/** A transaction as evidence of a verdict. */
export interface VerdictTransaction extends TransactionEvidence {
  /** The reading that shows it. Null if only an answer did. */
  read_id: string | null;
  ordinal: number;
  /** The position of its item. Null if that is not certain. */
  position: number | null;
  amount_usd: string | null;
}

/**
 * Records verdicts about calls in doubt. Settles the certain payouts. `ambiguous` leaves the others to a
 * person, and is written once until new evidence is known.
 * @param found at most one for each call.
 * @returns the verdicts that changed something. Others are not new, or their calls are in doubt no longer.
 */
export async function insertVerdicts(
  prisma: PrismaService,
  found: NewVerdict[],
  timeouts: Timeouts,
): Promise<NewVerdict[]> {
  const byCall = new Map(found.map((verdict) => [verdict.intentId, verdict]));
  return prisma.$transaction(async (tx) => {
    const doubtful = new Set<string>();
    const results = await settleAllWithin(tx, [...byCall.keys()], timeouts, (call) => {
      const verdict = byCall.get(call.intent.id);
      const isInDoubt = call.isInDoubt || hasDoubt(call);
      if (isInDoubt || call.state === 'in_progress') doubtful.add(call.intent.id);
      return verdict && isInDoubt ? settlementByVerdict(verdict, call) : undefined;
    });
    const ambiguous = found.filter(
      ({ verdict, intentId }) => verdict === 'ambiguous' && doubtful.has(intentId),
    );
    const fresh = new Set(await insertAmbiguous(tx, ambiguous));
    return found.filter((verdict) => results.get(verdict.intentId) === 'written' || fresh.has(verdict));
  });
}

/** @returns the verdicts that are new. */
async function insertAmbiguous(tx: Prisma.TransactionClient, found: NewVerdict[]): Promise<NewVerdict[]> {
  if (found.length === 0) return [];
  const ids = found.map(({ intentId }) => intentId);
  const rows = await tx.$queryRaw<Pick<NewVerdict, 'intentId' | 'verdict' | 'reason' | 'evidence'>[]>`
    SELECT DISTINCT ON (intent_id) intent_id::text AS "intentId", verdict, reason, evidence
    FROM verdict WHERE intent_id = ANY (${ids}::uuid[]) ORDER BY intent_id, id DESC`;
  const last = new Map(rows.map((row) => [row.intentId, row]));
  const fresh = found.filter((verdict) => !isSame(verdict, last.get(verdict.intentId)));
  if (fresh.length === 0) return [];
  const written = fresh.map(({ intentId, verdict, reason, evidence }) => {
    return { id: newId(), intent_id: intentId, verdict, reason, evidence: canonical(evidence) };
  });
  await tx.$executeRaw`
    INSERT INTO verdict (id, intent_id, verdict, reason, evidence)
    SELECT id, intent_id, verdict, reason, evidence::json
    FROM json_to_recordset(${JSON.stringify(written)}::json)
      AS t(id uuid, intent_id uuid, verdict text, reason text, evidence text)`;
  return fresh;
}

/** Returns the settlement by a verdict: of payouts that are in doubt. */
function settlementByVerdict(found: NewVerdict, call: SettledCall): NewSettlement | undefined {
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
    entries,
    evidence: { reads, calls },
  };
  return isWhole && call.items.length === 0 ? { ...settlement, resolution: verdict } : settlement;
}

function entryBy(verdict: NewVerdict['verdict'], { intent }: SettledCall): Entry {
  return verdict === 'confirmed' ? expectedEntry(intent.operation) : 'not_executed';
}

/** Compares verdicts without the listing's ID, because each read has a new one. */
function isSame(
  { reason, evidence }: NewVerdict,
  last: Pick<NewVerdict, 'verdict' | 'reason' | 'evidence'> | undefined,
): boolean {
  if (last?.verdict !== 'ambiguous' || last.reason !== reason) return false;
  return substanceOf(last.evidence) === substanceOf(evidence);
}

function substanceOf({ transactions, calls }: NewVerdict['evidence']): string {
  const seen = transactions.map(({ read_id: _, ordinal: __, ...transaction }) => canonical(transaction));
  return canonical({ calls: [...calls].sort(), seen: seen.sort() });
}
