import { Prisma } from '../database/generated/client';
import { maskContacts, maskProse } from './masking';
import { outcomeOf } from './outcome';
import { RecordApproval, RecordPerson, RecordResolution } from './record.dto';
import { shown, View } from './view';

type Row = Prisma.IntentGetPayload<{ include: { decision: true; resolution: true; outcome: true } }>;

/** Whether a held call may be sent, and who says so; null for a call that never waited. */
export function approvalOf(intent: Row, view: View): RecordApproval | null {
  const { heldFor, expiresAt, decision, bodyCommitment } = intent;
  if (heldFor === null) return null;
  return {
    held_for: heldFor,
    expires_at: expiresAt,
    content_hash: bodyCommitment && Buffer.from(bodyCommitment).toString('hex'),
    status: statusOf(intent, view),
    decided_at: decision?.decidedAt ?? null,
    decided_by: decision && personOf(decision, view),
    reason: shown(decision?.reason ?? null, view.reveal, maskProse),
  };
}

/** What was found out about a call in doubt: by a person, or by the resolver, which is nobody. */
export function resolutionOf({ resolution }: Row, view: View): RecordResolution | null {
  return (
    resolution && {
      verdict: resolution.verdict as RecordResolution['verdict'],
      reason: shown(resolution.reason, view.reveal, maskProse),
      resolved_at: resolution.resolvedAt,
      resolved_by: settlerOf(resolution, view),
    }
  );
}

function statusOf(intent: Row, { present }: View): RecordApproval['status'] {
  if (intent.decision) return intent.decision.verdict as RecordApproval['status'];
  return outcomeOf(intent, present) === 'expired' ? 'expired' : 'pending';
}

function personOf(by: { clientId: string; keyId: string; actor: string | null }, view: View): RecordPerson {
  return {
    client: { id: by.clientId, name: view.clientNames.get(by.clientId) ?? null },
    key_id: by.keyId,
    actor: shown(by.actor, view.reveal, maskContacts),
  };
}

function settlerOf({ clientId, keyId, actor }: NonNullable<Row['resolution']>, view: View): RecordPerson | null {
  return clientId === null || keyId === null ? null : personOf({ clientId, keyId, actor }, view);
}
