import { Decimal } from 'decimal.js';
import { CallState, Resolution } from '../../operations/lifecycle/lifecycle';
import { callsWith, STATE_COLUMNS } from '../../operations/lifecycle/lifecycle-sql';
import { ENTRIES } from '../../operations/lifecycle/settlement';
import { givenUpAfterMs, overAfterMs, Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { IntentDocument, OutcomeDocument, SettlementDocument } from '../records/documents';
import { LedgerItem, ledgerOf } from './ledger';

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

interface CallRow {
  intent: string;
  outcome: string | null;
  state: CallState;
  isInDoubt: boolean;
  countedUsd: string | null;
  settlements: string[];
}

/** Reads calls that may be settled, in the order of their IDs. */
export async function readSettledCalls(
  tx: Prisma.TransactionClient,
  ids: string[],
  timeouts: Timeouts,
): Promise<SettledCall[]> {
  const { goneMs, aliveMs } = settledAfter(timeouts);
  const rows = await tx.$queryRaw<CallRow[]>`
    SELECT intent, outcome, state, counted_usd::text AS "countedUsd", settlements,
      state = 'unknown' OR (state = 'in_progress' AND NOT elsewhere
        AND clock_timestamp() - greatest(released_at, moved_at) > make_interval(secs => (
          CASE WHEN process IN (SELECT live_processes()) THEN ${aliveMs}::float ELSE ${goneMs}::float END
          + greatest(0, (SELECT in_flight_ms FROM process p WHERE p.number = process) - ${goneMs}::float)
        ) / 1000)) AS "isInDoubt"
    FROM (
      SELECT moved_at, server <> database_server() AS elsewhere FROM epoch ORDER BY number DESC LIMIT 1
    ) AS history, (
      SELECT i.id, ${STATE_COLUMNS}, i.record AS intent, o.record AS outcome,
        coalesce(s.counted_usd, o.counted_usd) AS counted_usd,
        ARRAY(SELECT record FROM settlement WHERE intent_id = i.id ORDER BY number) AS settlements
      FROM ${callsWith(ids)}) AS call
    ORDER BY id`;
  return rows.map(toSettledCall);
}

function toSettledCall(row: CallRow): SettledCall {
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
    version: last?.id ?? intent.id,
    resolution: (last?.resolution ?? null) as Resolution | null,
    number: last?.number ?? 0,
    countedUsd: row.countedUsd === null ? null : new Decimal(row.countedUsd),
  };
}
