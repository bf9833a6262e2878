import { Decimal } from 'decimal.js';
import { CallState, Resolution, STATES } from '../../operations/lifecycle/lifecycle';
import { CALLS, STATE_COLUMNS } from '../../operations/lifecycle/lifecycle-sql';
import { countedOf, ENTRIES, resolutionOf } from '../../operations/lifecycle/settlement';
import { givenUpAfterMs, overAfterMs, Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { newSalt } from '../../platform/privacy/commitment';
import { lockClients } from '../admission/admissions';
import { stampedSql } from '../records/document-sql';
import {
  IntentDocument,
  OutcomeDocument,
  writeOutcome,
  SettlementDocument,
  writeSettlement,
} from '../records/documents';
import { NewEntry, NewOutcome, NewSettlement, RecordedEntry } from '../records/records';
import { isKeyed, keepKey } from './double-payments';
import { alarmIfFalselyRejected } from './false-rejections';
import { feeAfter, LedgerItem, ledgerOf, namesTransaction } from './ledger';

/**
 * Returns the ages from which a call without an outcome may be settled, in ms by the database's clock. Both
 * exceed the time in which a call may still be sent (`sendableForMs`). `goneMs` is for a call whose process
 * is gone: the longest time for the upstream's work. `aliveMs` is for a call whose process lives: the longest
 * time until it records an outcome. If the process that released the call has longer timeouts than this one,
 * both grow by the difference (table `process`).
 *
 * The clock of another server does not measure the age of a call. After a move of the database, calls that
 * were released before have the age of the move. They are not settled until the move is confirmed.
 */
export function settledAfter(timeouts: Timeouts): { goneMs: number; aliveMs: number } {
  return { goneMs: overAfterMs(timeouts), aliveMs: givenUpAfterMs(timeouts) };
}

/** A call that may be settled, by its current records. */
export interface SettledCall {
  intent: IntentDocument;
  outcome: OutcomeDocument | null;
  state: CallState;
  /** Whether it is certainly in doubt: no process can still send it or record its answer. */
  isInDoubt: boolean;
  /** Its payouts. Empty if its items are no payouts. */
  items: LedgerItem[];
  /** ID of its last settlement, or of the call. The next settlement supersedes it. */
  version: string;
  resolution: Resolution | null;
  number: number;
  /** Amount that counts on its caps. Null if the whole reservation counts. */
  countedUsd: Decimal | null;
}

/** Returns whether a payout of a call is in doubt after its answer. */
export function hasDoubt({ outcome, items }: Pick<SettledCall, 'outcome' | 'items'>): boolean {
  return outcome !== null && items.some(({ entry }) => !ENTRIES[entry].known);
}

/** Result of a settlement. Of two concurrent ones, the first wins and the other is overtaken. */
export type SettleResult = 'written' | 'nothing' | 'overtaken';

/** Attempts if other settlements overtake this one. */
const ATTEMPTS = 3;

/**
 * Settles payouts of a call. A later settlement supersedes an earlier one, and none is changed.
 * See docs/internals/decisions/upstream/0024-resolutions-are-superseded.md.
 * @param decide returns the settlement from the current records. Undefined settles nothing.
 * @returns `overtaken` only if every attempt was overtaken.
 */
export async function settle(
  prisma: PrismaService,
  callId: string,
  timeouts: Timeouts,
  decide: (call: SettledCall) => NewSettlement | undefined,
): Promise<SettleResult> {
  for (let attempt = 1; ; attempt += 1) {
    const settled = await prisma.$transaction((tx) => settleWithin(tx, callId, timeouts, decide));
    if (settled !== 'overtaken' || attempt === ATTEMPTS) return settled;
  }
}

/** Settles payouts of a call within a transaction, in one attempt. */
export async function settleWithin(
  tx: Prisma.TransactionClient,
  callId: string,
  timeouts: Timeouts,
  decide: (call: SettledCall) => NewSettlement | undefined,
): Promise<SettleResult> {
  const call = await readCall(tx, callId, timeouts);
  const settlement = call && decide(call);
  if (!settlement) return 'nothing';
  if (!call.outcome && call.state !== 'refused' && !(await abandon(tx, call.intent))) return 'overtaken';
  return (await write(tx, call, settlement)) ? 'written' : 'overtaken';
}

interface CallRow {
  intent: string;
  outcome: string | null;
  state: CallState;
  isInDoubt: boolean;
  countedUsd: string | null;
  settlements: string[];
}

async function readCall(
  tx: Prisma.TransactionClient,
  id: string,
  timeouts: Timeouts,
): Promise<SettledCall | undefined> {
  const { goneMs, aliveMs } = settledAfter(timeouts);
  const [row] = await tx.$queryRaw<CallRow[]>`
    SELECT intent, outcome, state, counted_usd::text AS "countedUsd", settlements,
      state = 'unknown' OR (state = 'in_progress' AND NOT elsewhere
        AND clock_timestamp() - greatest(released_at, moved_at) > make_interval(secs => (
          CASE WHEN process IN (SELECT live_processes()) THEN ${aliveMs}::float ELSE ${goneMs}::float END
          + greatest(0, (SELECT in_flight_ms FROM process p WHERE p.number = process) - ${goneMs}::float)
        ) / 1000)) AS "isInDoubt"
    FROM (
      SELECT moved_at, server <> database_server() AS elsewhere FROM epoch ORDER BY number DESC LIMIT 1
    ) AS history, (
      SELECT ${STATE_COLUMNS}, i.record AS intent, o.record AS outcome,
        coalesce(s.counted_usd, o.counted_usd) AS counted_usd,
        ARRAY(SELECT record FROM settlement WHERE intent_id = i.id ORDER BY number) AS settlements
      FROM ${CALLS} WHERE i.id = ${id}::uuid) AS call`;
  if (!row) return undefined;
  const intent = JSON.parse(row.intent) as IntentDocument;
  const outcome = row.outcome === null ? null : (JSON.parse(row.outcome) as OutcomeDocument);
  const settlements = row.settlements.map((record) => JSON.parse(record) as SettlementDocument);
  const last = settlements.at(-1);
  return {
    intent,
    outcome,
    state: row.state,
    isInDoubt: row.isInDoubt,
    items: ledgerOf({ intent, outcome, settlements }),
    version: last?.id ?? id,
    resolution: (last?.resolution ?? null) as Resolution | null,
    number: last?.number ?? 0,
    countedUsd: row.countedUsd === null ? null : new Decimal(row.countedUsd),
  };
}

/**
 * Records that the answer of a call is no longer awaited. A late answer finds this outcome and becomes a
 * settlement. Without this outcome, a concurrent answer would commit next to a settlement that ignores it.
 * @returns false if the answer was first.
 */
export async function abandon(
  tx: Prisma.TransactionClient,
  intent: Pick<IntentDocument, 'id' | 'received_at' | 'recorded_at' | 'recovered'>,
): Promise<boolean> {
  const now = clock.now();
  const outcome: NewOutcome = {
    intentId: intent.id,
    kind: 'unknown',
    failure: 'abandoned',
    upstreamStatus: null,
    contentType: null,
    retryAfter: null,
    body: null,
    items: [],
    sentAt: new Date(intent.recovered ? intent.received_at : intent.recorded_at), // The earliest time.
    answeredAt: now,
    upstreamMs: 0,
    answerOf: null,
    attempts: 0,
    tries: [],
  };
  const written = await tx.$executeRaw`
    INSERT INTO outcome (intent_id, kind, upstream_ms, sent_at, answered_at, recorded_at, record)
    SELECT ${intent.id}::uuid, 'unknown', 0, ${outcome.sentAt}::timestamptz, ${now}::timestamptz, now,
      ${Prisma.raw(stampedSql('record', 'now'))}
    FROM (SELECT clock_timestamp() AS now, ${writeOutcome(outcome, newSalt())}::text AS record) AS written
    ON CONFLICT DO NOTHING`;
  return written === 1;
}

async function write(
  tx: Prisma.TransactionClient,
  call: SettledCall,
  settlement: NewSettlement,
): Promise<boolean> {
  const { intent, outcome, items, version, number, countedUsd: before } = call;
  const entries = settlement.entries.flatMap((entry) => toRecorded(entry, items[entry.position]));
  const after = itemsAfter(items, entries);
  const kind = outcome?.kind ?? (call.state === 'refused' ? 'not_sent' : 'unknown');
  const last = after.map(({ entry }) => entry);
  const resolution = settlement.resolution ?? (items.length > 0 ? resolutionOf(kind, last) : null);
  const total = new Decimal(intent.total_usd ?? 0);
  const countedUsd =
    items.length > 0 ? countedOf(after) : resolution === 'not_executed' ? new Decimal(0) : total;
  const isPaid = resolution !== null && STATES[resolution].executed === 'yes';
  // An admission may take the key over. It locks the client first too, against deadlocks.
  if (isPaid && isKeyed(intent)) await lockClients(tx, [intent.client_id]);
  const id = newId();
  const record = writeSettlement({
    ...settlement,
    id,
    number: number + 1,
    supersedes: version,
    entries,
    countedUsd,
    ...(resolution && { resolution }),
  });
  const written = await tx.$executeRaw`
    INSERT INTO settlement (id, intent_id, number, resolution, counted_usd, recorded_at, record)
    SELECT ${id}::uuid, ${intent.id}::uuid, ${number + 1}, ${resolution}, ${countedUsd.toFixed()}::numeric,
      now, ${Prisma.raw(stampedSql('record', 'now'))}
    FROM (SELECT clock_timestamp() AS now, ${record}::text AS record) AS written ON CONFLICT DO NOTHING`;
  if (written === 0) return false;
  await tx.$executeRaw`SELECT adjust_spending(ARRAY[${intent.id}::uuid],
    ARRAY[${before?.toFixed() ?? null}::numeric], ARRAY[${countedUsd.toFixed()}::numeric])`;
  if (isPaid) await keepKey(tx, intent);
  await alarmIfFalselyRejected(tx, { intent, outcome, resolution, items: after });
  return true;
}

/** Completes an entry with its accounts. Drops an entry without an item. */
function toRecorded(entry: NewEntry, item: LedgerItem | undefined): RecordedEntry[] {
  if (!item) return [];
  const { amountUsd = item.amountUsd } = entry;
  if (entry.entry === 'fee') return [toFee(entry, amountUsd ?? new Decimal(0))];
  return [{ ...entry, amountUsd, from: ENTRIES[item.entry].account, to: ENTRIES[entry.entry].account }];
}

/** A negative fee is a refund. */
function toFee(entry: NewEntry, usd: Decimal): RecordedEntry {
  const amountUsd = usd.abs();
  return usd.isNegative()
    ? { ...entry, amountUsd, from: 'fees', to: 'available' }
    : { ...entry, amountUsd, from: 'available', to: 'fees' };
}

function itemsAfter(items: LedgerItem[], entries: RecordedEntry[]): LedgerItem[] {
  const after = items.map((item) => ({ ...item }));
  for (const { position, entry, amountUsd, to, transaction } of entries) {
    const item = after[position] as LedgerItem;
    if (entry === 'fee' || namesTransaction(transaction)) item.expectedFeeUsd = new Decimal(0);
    if (entry === 'fee') item.feeUsd = feeAfter(item.feeUsd, to, amountUsd);
    else item.entry = entry;
  }
  return after;
}
