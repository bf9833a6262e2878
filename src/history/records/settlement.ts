import { SettlementDocument } from '../../journal/records/documents';
import { approvalStatusOf, isQueued, stateOf } from '../../operations/lifecycle/lifecycle';
import { maskContacts, maskProse } from '../../platform/privacy/contacts';
import {
  FoundTransaction,
  RecordDoubt,
  RecordPerson,
  RecordQueue,
  RecordResolution,
  RecordSettlement,
} from './record-parts.dto';
import { RecordApproval } from './record.dto';
import { hasPayoutInDoubt, StoredCall } from './rows';
import { clientOf, VerdictRow, shown, View } from './view';

/** Returns the approval of a held call, with its decider. Null for other calls. */
export function approvalOf({ intent, decision, lifecycle }: StoredCall, view: View): RecordApproval | null {
  if (lifecycle.heldFor === null) return null;
  return {
    held_for: lifecycle.heldFor,
    earlier_call_id: view.ofPerson ? null : (intent.earlier_call_id ?? null),
    unexplained_transaction: view.showsOthers ? (intent.unexplained_transaction ?? null) : null,
    expires_at: lifecycle.expiresAt,
    content_hash: intent.body_commitment ?? null,
    status: approvalStatusOf(lifecycle, view.present) as RecordApproval['status'],
    decided_at: decision?.decidedAt ?? null,
    decided_by: decision && personOf(decision, view),
    screening: decision?.screening ?? null,
    reason: shown(decision?.reason, view.reveal, maskProse),
  };
}

/** Returns the turn of a queued call. Null for other calls. */
export function queueOf({ decision, lifecycle }: StoredCall): RecordQueue | null {
  if (!isQueued(lifecycle) || lifecycle.expiresAt === null) return null;
  const { decidedAt = null, screening = null } = decision ?? {};
  return { expires_at: lifecycle.expiresAt, released_at: decidedAt, screening };
}

/** Returns the resolution of a call as a whole. Null if its answer is in effect, or if it is in doubt. */
export function resolutionOf({ settlements }: StoredCall, view: View): RecordResolution | null {
  const last = settlements.at(-1);
  if (last?.resolution === undefined) return null;
  const { recorded_at, recorded_by, id, reason } = toSettlement(last, view);
  const transactions = last.entries.filter(({ upstream_ref, upstream_id }) => upstream_ref ?? upstream_id);
  return {
    id,
    outcome: last.resolution as RecordResolution['outcome'],
    reason,
    resolved_at: recorded_at,
    resolved_by: recorded_by,
    transactions: transactions.map((entry) => toFoundTransaction(entry, view)),
  };
}

/** Returns the settlements of payouts after the answer, newest first. */
export function settlementsOf({ settlements }: StoredCall, view: View): RecordSettlement[] {
  return settlements.map((one) => toSettlement(one, view)).reverse();
}

function toSettlement(settlement: SettlementDocument, view: View): RecordSettlement {
  const { id, source, reason, resolution, counted_usd, recorded_at, entries } = settlement;
  return {
    id,
    source: source as RecordSettlement['source'],
    outcome: (resolution ?? null) as RecordSettlement['outcome'],
    reason: shown(reason, view.reveal, maskProse),
    counted_usd,
    recorded_at: new Date(recorded_at),
    recorded_by: settlerOf(settlement, view),
    entries: entries.map(({ position, entry, from, to, amount_usd, status }) => ({
      position,
      entry,
      from,
      to,
      amount_usd: amount_usd ?? null,
      status: shown(status, view.reveal, maskProse),
      source: source as RecordSettlement['source'],
      at: new Date(recorded_at),
    })),
  };
}

/** Returns the resolver's reason why a call is still in doubt. Null before its verdict. */
export function doubtOf(call: StoredCall, view: View): RecordDoubt | null {
  const verdict = view.verdicts.get(call.intent.id);
  const isInDoubt = stateOf(call.lifecycle, view.present) === 'unknown' || hasPayoutInDoubt(call);
  if (verdict?.verdict !== 'ambiguous' || !isInDoubt) return null;
  const { reason, decidedAt, evidence } = verdict;
  const calls = view.showsOthers ? evidence.calls : [];
  return {
    verdict: 'ambiguous',
    reason,
    decided_at: decidedAt,
    transactions: evidenceTransactions(verdict, view),
    calls,
  };
}

function evidenceTransactions({ evidence }: VerdictRow, view: View): FoundTransaction[] {
  return evidence.transactions.map((one) => toFoundTransaction(one, view));
}

function toFoundTransaction(found: EvidenceTransaction, { reveal }: View): FoundTransaction {
  return {
    position: found.position,
    at: found.at ?? null,
    amount_usd: found.amount_usd ?? null,
    upstream_ref: shown(found.upstream_ref, reveal, maskContacts),
    upstream_id: shown(found.upstream_id, reveal, maskContacts),
    batch_ref: shown(found.batch_ref, reveal, maskContacts),
    status: shown(found.status, reveal, maskProse),
  };
}

/** A transaction in evidence. */
type EvidenceTransaction = { position: number | null } & {
  [field in 'at' | 'amount_usd' | 'upstream_ref' | 'upstream_id' | 'batch_ref' | 'status']?:
    | string
    | null
    | undefined;
};

function personOf(by: { clientId: string; keyId: string; actor: string | null }, view: View): RecordPerson {
  return {
    client: clientOf(by.clientId, view),
    key_id: by.keyId,
    actor: shown(by.actor, view.reveal, maskContacts),
  };
}

function settlerOf(settlement: SettlementDocument, view: View): RecordPerson | null {
  const { client_id: clientId, key_id: keyId, actor = null } = settlement;
  return clientId === undefined || keyId === undefined ? null : personOf({ clientId, keyId, actor }, view);
}
