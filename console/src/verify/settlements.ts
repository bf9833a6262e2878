import { type Entry, ENTRIES, payoutStateOf } from '../../../src/operations/lifecycle/entries';
import type { CallTimeline, RecordItem, RecordSettlement } from '../api/generated/schema';
import { type Comparison, type Leaf, listOf } from './comparison';

/**
 * Compares the shown settlements with their records.
 * @param recorded all readable settlements, in order.
 * @param areAway whether others cannot be read.
 */
export function compareSettlements(
  all: Comparison,
  { settlements: newestFirst }: CallTimeline,
  recorded: readonly Leaf[],
  areAway: boolean,
): void {
  const shown = [...newestFirst].reverse();
  if (!areAway) {
    all.plain('settlements', shown.map(({ id }) => id).join(', '), recorded.map(({ id }) => id).join(', '));
  }
  for (const leaf of recorded)
    compareSettlement(
      all,
      shown.find(({ id }) => id === leaf.id),
      leaf,
    );
}

function compareSettlement(all: Comparison, settlement: RecordSettlement | undefined, leaf: Leaf): void {
  all.plain('settlement', settlement?.id, leaf.id);
  all.plain('settled as', settlement?.outcome, leaf.resolution);
  all.plain('source of the settlement', settlement?.source, leaf.source);
  all.plain('counts on caps', settlement?.counted_usd, leaf.counted_usd);
  all.time('time of the settlement', settlement?.recorded_at, leaf.recorded_at);
  all.text('reason for the settlement', settlement?.reason, leaf.reason);
  all.person('author of the settlement', settlement?.recorded_by, leaf);
  const entries = listOf(leaf.entries);
  all.plain('entries of the settlement', settlement?.entries.length, entries.length);
  for (const [place, entry] of entries.entries()) {
    const shown = settlement?.entries[place];
    for (const name of ['position', 'entry', 'from', 'to', 'amount_usd'] as const) {
      all.plain(`entry ${place + 1} (${name})`, shown?.[name], entry[name]);
    }
    all.text(`entry ${place + 1} (status)`, shown?.status, entry.status);
  }
}

/**
 * Compares the state of each payout with its last entry.
 * @param answered entries of the outcome: one word for all payouts, or a list.
 */
export function compareStates(
  all: Comparison,
  { items, outcome }: CallTimeline,
  answered: unknown,
  settlements: readonly Leaf[],
): void {
  for (const { position, state } of items) {
    const last =
      entriesOf(position, settlements).at(-1)?.entry ??
      (Array.isArray(answered) ? (answered as unknown[])[position] : answered);
    const entry = typeof last === 'string' && last in ENTRIES ? (last as Entry) : 'reserved';
    const isPayout = state !== null || last !== undefined; // other items have no entries
    all.plain(`state of item ${position + 1}`, state, isPayout ? payoutStateOf(entry, outcome) : null);
  }
}

/**
 * Returns the transaction of an item as it was last observed.
 * @param answered the transaction in the answer. Its amount stays.
 */
export function transactionOf(
  { position, amount_usd }: RecordItem,
  answered: Leaf | undefined,
  settlements: readonly Leaf[],
): Leaf | undefined {
  return entriesOf(position, settlements).reduce((latest: Leaf | undefined, entry) => {
    const { upstream_ref, upstream_id, batch_ref, status } = entry;
    if (upstream_ref === undefined && upstream_id === undefined && status === undefined) return latest;
    return {
      amount_usd: answered ? answered.amount_usd : amount_usd,
      upstream_ref: upstream_ref ?? latest?.upstream_ref,
      upstream_id: upstream_id ?? latest?.upstream_id,
      batch_ref: batch_ref ?? latest?.batch_ref,
      status,
      payout_status: answered?.payout_status,
      payout_error: answered?.payout_error,
      differs: answered?.differs,
    };
  }, answered);
}

function entriesOf(position: number, settlements: readonly Leaf[]): Leaf[] {
  const entries = settlements.flatMap((settlement) => listOf(settlement.entries));
  return entries.filter((entry) => entry.position === position && entry.entry !== 'fee');
}
