import { maskContacts, maskProse } from './masking';
import { approvalStatusOf, stateOf } from '../../operations/lifecycle';
import {
  FoundTransaction,
  RecordApproval,
  RecordDoubt,
  RecordPerson,
  RecordResolution,
  SupersededResolution,
} from './record.dto';
import { ResolutionRow } from './resolutions';
import { VerdictRow } from './resolver-verdicts';
import { StoredCall } from './rows';
import { shown, View } from './view';

/** Returns the approval of a held call, and who decided. Null for a call that was never held. */
export function approvalOf({ intent, decision, lifecycle }: StoredCall, view: View): RecordApproval | null {
  if (lifecycle.heldFor === null) return null;
  return {
    held_for: lifecycle.heldFor,
    expires_at: lifecycle.expiresAt,
    content_hash: intent.body_commitment ?? null,
    status: approvalStatusOf(lifecycle, view.present) as RecordApproval['status'],
    decided_at: decision?.decidedAt ?? null,
    decided_by: decision && personOf(decision, view),
    reason: shown(decision?.reason, view.reveal, maskProse),
  };
}

/** Returns how a call in doubt was settled: by a person, or by the resolver. */
export function resolutionOf({ intent, resolution }: StoredCall, view: View): RecordResolution | null {
  const verdict = view.verdicts.get(intent.id);
  const isFound = resolution?.clientId === null && verdict?.verdict === resolution.outcome;
  return (
    resolution && {
      ...toResolution(resolution, view),
      transactions: isFound ? foundIn(verdict, view) : [],
      superseded: resolution.superseded.map((one) => toResolution(one, view)),
    }
  );
}

function toResolution(resolution: ResolutionRow, view: View): SupersededResolution {
  return {
    id: resolution.id,
    outcome: resolution.outcome as RecordResolution['outcome'],
    reason: shown(resolution.reason, view.reveal, maskProse),
    resolved_at: resolution.resolvedAt,
    resolved_by: settlerOf(resolution, view),
  };
}

/** Returns why a call is still in doubt, if the resolver has looked into it. */
export function doubtOf({ intent, lifecycle }: StoredCall, view: View): RecordDoubt | null {
  const verdict = view.verdicts.get(intent.id);
  if (verdict?.verdict !== 'ambiguous' || stateOf(lifecycle, view.present) !== 'unknown') return null;
  const { reason, decidedAt, evidence } = verdict;
  const calls = view.showsOthers ? evidence.calls : [];
  return { verdict: 'ambiguous', reason, decided_at: decidedAt, transactions: foundIn(verdict, view), calls };
}

function foundIn({ evidence }: VerdictRow, { reveal }: View): FoundTransaction[] {
  return evidence.transactions.map(({ upstream_ref, upstream_id, batch_ref, status, amount_usd, position, at }) => ({
    position,
    at,
    amount_usd,
    upstream_ref: shown(upstream_ref, reveal, maskContacts),
    upstream_id: shown(upstream_id, reveal, maskContacts),
    batch_ref: shown(batch_ref, reveal, maskContacts),
    status: shown(status, reveal, maskProse),
  }));
}

function personOf(by: { clientId: string; keyId: string; actor: string | null }, view: View): RecordPerson {
  return {
    client: { id: by.clientId, name: view.clientNames.get(by.clientId) ?? null },
    key_id: by.keyId,
    actor: shown(by.actor, view.reveal, maskContacts),
  };
}

function settlerOf({ clientId, keyId, actor }: ResolutionRow, view: View): RecordPerson | null {
  return clientId === null || keyId === null ? null : personOf({ clientId, keyId, actor }, view);
}
