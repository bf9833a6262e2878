import { SessionCredential } from '../../../src/access/callers/caller';
import { TokenCredential } from '../../../src/access/tokens/access-token';
import { IntentDocument, ItemDocument, OutcomeDocument } from '../../../src/journal/records/documents';
import { PersonDocument } from '../../../src/journal/records/recipients';
import { recordedItems } from '../../../src/journal/records/recorded-items';
import { OpenIntent, NewOutcome } from '../../../src/journal/records/records';
import { feesOf, writeFeeRule } from '../../../src/operations/items/fees';
import { totalOf } from '../../../src/operations/items/item';
import { commitment } from '../../../src/platform/privacy/commitment';
import { asRecorded, queryAsRecorded, proseAsRecorded } from '../../../src/platform/privacy/recorded';

export const hexOf = (salt: string | undefined, value: Buffer | string | null) =>
  salt === undefined ? undefined : commitment(Buffer.from(salt, 'hex'), value)?.toString('hex');

/** Returns the commitment to recipients with salts, as docs/auditors/receipts.md specifies it. */
function recipientsOf(callId: string, people: PersonDocument[]): string | undefined {
  const list = people.map(({ salt, email, handle, phone, position }) => ({
    email_commitment: hexOf(salt, email ?? null),
    handle_commitment: hexOf(salt, handle ?? null),
    phone_commitment: hexOf(salt, phone ?? null),
    position,
  }));
  return list.length === 0 ? undefined : hexOf(callId.replaceAll('-', ''), JSON.stringify(list));
}

/** Returns the record of a request, with the time and the body's commitment of `read`. */
export function intentOf(intent: OpenIntent, people: PersonDocument[], read: IntentDocument): IntentDocument {
  const items = recordedItems(intent.items).map((item): ItemDocument => {
    return {
      recipient_field: item.recipientField ?? undefined,
      handle_ignored: item.handleIgnored || undefined,
      amount_usd: item.amountUsd?.toFixed(),
      country: item.country ?? undefined,
      network_code: item.networkCode ?? undefined,
      reference: item.reference ?? undefined,
      receiver: item.receiver ?? undefined,
      wallet: item.wallet ?? undefined,
      upstream_ref: item.upstreamRef ?? undefined,
    };
  });
  const { credential } = intent.caller;
  return {
    table: 'intent',
    account: intent.caller.account === 'main' ? undefined : intent.caller.account,
    id: intent.id,
    client_id: intent.caller.clientId,
    key_id: intent.caller.keyId,
    operation: intent.operation,
    request_id: intent.requestId,
    traceparent: intent.traceparent,
    client_address: intent.clientAddress,
    query: queryAsRecorded(intent.query) ?? undefined,
    item_count: intent.items.length,
    total_usd: totalOf(intent.items)?.toFixed(),
    body_commitment: read.body_commitment,
    recipients_commitment: recipientsOf(intent.id, people),
    received_at: intent.receivedAt.toISOString(),
    recorded_at: read.recorded_at,
    coverage: intent.coverage ?? undefined,
    screening: intent.screening ?? undefined,
    caused_by: intent.causedBy,
    duplicate_of: intent.duplicateOf ?? undefined,
    earlier_call_id: intent.earlierCallId ?? undefined,
    unexplained_transaction: intent.unexplainedTransaction ?? undefined,
    idempotency_key_commitment: intent.key
      ? hexOf(intent.key.salt.toString('hex'), intent.key.text)
      : undefined,
    actor_commitment: intent.person?.commitment.toString('hex'),
    actor_source: intent.person?.source,
    person_id: intent.person?.id,
    token: credential.kind === 'token' ? tokenOf(credential.claims, intent) : undefined,
    session: credential.kind === 'session' ? sessionOf(credential) : undefined,
    ephemeral_key_id: credential.kind === 'ephemeral' ? credential.id : undefined,
    held_for: intent.heldFor ?? undefined,
    expected_fee: intent.feeRule ? writeFeeRule(intent.feeRule) : undefined,
    expected_fee_usd: feesOf(intent.items, intent.feeRule)?.toFixed(),
    expires_at: intent.expiresAt?.toISOString(),
    reserved_on: intent.reservedOn ?? undefined,
    process: intent.process,
    items: items.length > 0 ? items : undefined,
  };
}

function sessionOf({ id, signedInAt }: SessionCredential): IntentDocument['session'] {
  return { auth_time: signedInAt?.toISOString(), id };
}

function tokenOf(
  { authTime, id, jkt }: TokenCredential['claims'],
  { person }: OpenIntent,
): IntentDocument['token'] {
  const acting = person?.acting;
  return {
    act: acting && { commitment: acting.commitment.toString('hex'), person_id: acting.id },
    auth_time: authTime === null ? undefined : new Date(authTime * 1_000).toISOString(),
    jkt: jkt ?? undefined,
    jti: asRecorded(id) ?? undefined,
  };
}

/** Returns the record of an outcome, with the time and the body's commitment of `read`. */
export function outcomeOf(outcome: NewOutcome, read: OutcomeDocument): OutcomeDocument {
  const tries = outcome.tries.map(({ failure, ms, phase, startedAt, status }) => ({
    failure: failure ?? undefined,
    ms: ms.toFixed(3),
    phase,
    started_at: startedAt.toISOString(),
    status: status ?? undefined,
  }));
  const items = outcome.items.map(
    ({ position, upstreamRef, upstreamId, batchRef, status, amountUsd, feeUsd, ...more }) => ({
      payout_status: proseAsRecorded(more.payoutStatus ?? null) ?? undefined,
      payout_error: proseAsRecorded(more.payoutError ?? null) ?? undefined,
      differs: more.differs,
      fee_usd: feeUsd?.toFixed(),
      position: position ?? undefined,
      upstream_ref: asRecorded(upstreamRef) ?? undefined,
      upstream_id: asRecorded(upstreamId) ?? undefined,
      batch_ref: asRecorded(batchRef) ?? undefined,
      status: proseAsRecorded(status) ?? undefined,
      amount_usd: amountUsd?.toFixed(),
    }),
  );
  return {
    table: 'outcome',
    intent_id: outcome.intentId,
    kind: outcome.kind,
    failure: outcome.failure ?? undefined,
    upstream_status: outcome.upstreamStatus ?? undefined,
    content_type: asRecorded(outcome.contentType) ?? undefined,
    retry_after: outcome.retryAfter ?? undefined,
    sent_at: outcome.sentAt.toISOString(),
    answered_at: outcome.answeredAt.toISOString(),
    upstream_ms: outcome.upstreamMs.toFixed(3),
    answer_of: outcome.answerOf ?? undefined,
    attempts: outcome.attempts,
    undelivered: outcome.undelivered || undefined,
    counted_usd: outcome.countedUsd ?? undefined,
    entries: outcome.entries?.every((one) => one === outcome.entries?.[0])
      ? outcome.entries[0]
      : outcome.entries,
    body_commitment: read.body_commitment,
    recorded_at: read.recorded_at,
    tries: tries.length > 0 ? tries : undefined,
    items: items.length > 0 ? items : undefined,
  };
}
