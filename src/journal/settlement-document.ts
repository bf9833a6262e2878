import { proseAsRecorded } from '../platform/privacy/recorded';
import { UNSTAMPED } from './document-sql';
import { Read } from './documents';
import { RecordedEntry, RecordedSettlement } from './records';

/** The record of a settlement. */
export type SettlementDocument = Read<ReturnType<typeof settlementDocument>>;

/** An entry of a settlement. */
export type EntryDocument = SettlementDocument['entries'][number];

export function writeSettlement(settlement: RecordedSettlement): string {
  return JSON.stringify(settlementDocument(settlement));
}

function settlementDocument({ by, evidence, ...settlement }: RecordedSettlement) {
  return {
    actor: by?.actor ?? undefined,
    calls: evidence.calls.length > 0 ? evidence.calls : undefined, // other calls that could have made the transactions
    client_id: by?.clientId,
    counted_usd: settlement.countedUsd.toFixed(),
    entries: settlement.entries.map(entryDocument),
    id: settlement.id,
    intent_id: settlement.intentId,
    key_id: by?.keyId,
    number: settlement.number,
    reads: evidence.reads.length > 0 ? evidence.reads : undefined, // the readings of the upstream (source_read)
    reason: proseAsRecorded(settlement.reason) ?? '',
    recorded_at: UNSTAMPED,
    resolution: settlement.resolution ?? undefined,
    source: settlement.source,
    supersedes: settlement.supersedes, // the settlement before, or the call
    table: 'settlement',
    undelivered: settlement.undelivered || undefined,
  };
}

function entryDocument(entry: RecordedEntry) {
  const { transaction } = entry;
  return {
    amount_usd: entry.amountUsd?.toFixed(),
    at: transaction?.at ?? undefined,
    batch_ref: transaction?.batch_ref ?? undefined,
    entry: entry.entry,
    from: entry.from,
    position: entry.position,
    status: transaction?.status ?? undefined,
    to: entry.to,
    upstream_id: transaction?.upstream_id ?? undefined,
    upstream_ref: transaction?.upstream_ref ?? undefined,
  };
}
