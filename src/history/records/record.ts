import { RecordedItem, RecordedOutcome, RecordedTransaction } from '../../journal/recorded-calls';
import { Prisma } from '../../platform/database/generated/client';
import { Fault } from '../../platform/errors/problem';
import { writtenNumbers } from '../../platform/privacy/recorded';
import { isDeeperThan } from '../../http/validation/json-body';
import { maskBody, maskContacts, maskEmail, maskHandle, maskPhone, maskProse } from './masking';
import { inDoubtSince, stateOf } from '../../operations/lifecycle';
import {
  CallRecord,
  ItemRecord,
  RecordItem,
  RecordMessage,
  RecordTry,
  RecordUpstream,
  RecordUpstreamItem,
} from './record.dto';
import { IntentRow } from './rows';
import { approvalOf, doubtOf, resolutionOf } from './settlement';
import { shown, View } from './view';

/** Deeper answers are shown as text. Walking them could overflow the stack. */
const MAX_SHOWN_DEPTH = 64;

type RefusalRow = Prisma.RefusalGetPayload<object>;

export function fromIntent(intent: IntentRow, view: View): CallRecord {
  const { outcome } = intent;
  const byPosition = new Map(outcome?.items.map((item) => [item.position, item]));
  return {
    ...fromEither(intent, view),
    outcome: stateOf(intent, view.present),
    in_doubt_since: inDoubtSince(intent, view.present),
    item_count: intent.itemCount,
    total_usd: intent.totalUsd?.toFixed() ?? null,
    coverage: intent.coverage,
    caused_by: intent.causedBy,
    duplicate_of: intent.duplicateOf,
    items: intent.items.map((item) => toItem(item, byPosition.get(item.position), view)),
    upstream: outcome && {
      status: outcome.upstreamStatus,
      failure: outcome.failure,
      answer_of: outcome.answerOf,
      attempts: outcome.attempts,
      tries: triesOf(outcome),
      other_items: outcome.items.filter(({ position }) => position === null).map((item) => toUpstreamItem(item, view)),
    },
    refusal: null,
    approval: approvalOf(intent, view),
    resolution: resolutionOf(intent, view),
    doubt: doubtOf(intent, view),
    timings: {
      received_at: intent.receivedAt,
      recorded_at: intent.recordedAt,
      sent_at: outcome?.sentAt ?? null,
      answered_at: outcome?.answeredAt ?? null,
      outcome_recorded_at: outcome?.recordedAt ?? null,
      upstream_ms: outcome?.upstreamMs.toNumber() ?? null,
    },
  };
}

export function fromRefusal(refusal: RefusalRow, view: View): CallRecord {
  const { status, code, detail, faults, faultCount, firstCallId } = refusal;
  return {
    ...fromEither(refusal, view),
    outcome: 'refused',
    in_doubt_since: null,
    item_count: 0,
    total_usd: null,
    coverage: null,
    caused_by: null,
    duplicate_of: null,
    items: [],
    upstream: null,
    refusal: {
      status,
      code,
      detail,
      errors: faults as unknown as Fault[],
      error_count: faultCount,
      first_call_id: firstCallId,
    },
    approval: null,
    resolution: null,
    doubt: null,
    timings: {
      received_at: refusal.receivedAt,
      recorded_at: refusal.recordedAt,
      sent_at: null,
      answered_at: null,
      outcome_recorded_at: null,
      upstream_ms: null,
    },
  };
}

function triesOf({ tries }: RecordedOutcome): RecordTry[] {
  return tries.map(({ failure = null, ms, phase, started_at, status = null }) => ({
    failure,
    ms: Number(ms),
    phase: phase as RecordTry['phase'],
    started_at,
    status,
  }));
}

/** Combines one payout with the fields of its call. Omits transactions that belong to no payout for certain. */
export function toItemRecord({ items: _, upstream, ...call }: CallRecord, item: RecordItem): ItemRecord {
  return { ...call, upstream: upstream && withoutOthers(upstream), item };
}

function withoutOthers({ other_items: _, ...upstream }: RecordUpstream) {
  return upstream;
}

/** Returns the request and the answer: JSON as such, other content as text. */
export function toMessages(
  intent: {
    query: string | null;
    body: { body: Uint8Array } | null;
    outcome: object | null;
    items: { recipient: { phone: string | null } | null }[];
  },
  response: { body: Uint8Array } | null,
  reveal: boolean,
): { request: RecordMessage; response: RecordMessage | null } {
  const phones = intent.items.flatMap(({ recipient }) => recipient?.phone ?? []);
  const read = (bytes: Uint8Array | undefined) => (bytes ? readBody(bytes, phones, reveal) : null);
  return {
    request: { query: shown(intent.query, reveal, maskQuery), body: read(intent.body?.body) },
    response: intent.outcome && { body: read(response?.body) },
  };
}

function readBody(bytes: Uint8Array, phones: string[], reveal: boolean): unknown {
  const text = Buffer.from(bytes).toString('utf8');
  try {
    const json = JSON.parse(text) as unknown;
    if (isDeeperThan(json, MAX_SHOWN_DEPTH)) return reveal ? text : maskBody(text);
    return reveal ? json : maskBody(json, writtenNumbers([...phones, ...(text.match(PHONES) ?? [])]));
  } catch {
    return reveal ? text : maskBody(text);
  }
}

/** Phone numbers of other people in the upstream's listings. */
const PHONES = /\+[1-9]\d{6,14}(?!\d)/g;

function fromEither(row: IntentRow | RefusalRow, { clientNames, reveal }: View) {
  return {
    id: row.id,
    operation: row.operation,
    client: { id: row.clientId, name: clientNames.get(row.clientId) ?? null },
    key_id: row.keyId,
    actor: shown(row.actor, reveal, maskContacts),
    idempotency_key: shown(row.idempotencyKey, reveal, maskContacts),
    request_id: shown(row.requestId, reveal, maskContacts),
    traceparent: row.traceparent,
    client_address: row.clientAddress,
  };
}

function toItem(item: RecordedItem, upstream: RecordedTransaction | undefined, view: View): RecordItem {
  const { email = null, phone = null, handle = null } = item.recipient ?? {};
  const { reveal } = view;
  return {
    position: item.position,
    recipient: {
      email: shown(email, reveal, maskEmail),
      phone: shown(phone, reveal, maskPhone),
      handle: shown(handle, reveal, maskHandle),
      receiver: shown(item.receiver, reveal, maskContacts),
    },
    recipient_field: item.recipientField,
    note: item.handleIgnored ? 'Both an email and a handle were given. The email is used.' : null,
    amount_usd: item.amountUsd?.toFixed() ?? null,
    // Callers may have written a contact into these texts.
    country: shown(item.country, reveal, maskContacts),
    network_code: shown(item.networkCode, reveal, maskContacts),
    reference: shown(item.reference, reveal, maskContacts),
    wallet: shown(item.wallet, reveal, maskContacts),
    upstream_ref: shown(item.upstreamRef, reveal, maskContacts),
    upstream: upstream ? toUpstreamItem(upstream, view) : null,
  };
}

function toUpstreamItem(item: RecordedTransaction, { reveal }: View): RecordUpstreamItem {
  return {
    upstream_ref: shown(item.upstreamRef, reveal, maskContacts),
    upstream_id: shown(item.upstreamId, reveal, maskContacts),
    batch_ref: shown(item.batchRef, reveal, maskContacts),
    status: shown(item.status, reveal, maskProse),
    amount_usd: item.amountUsd?.toFixed() ?? null,
  };
}

/** Masks the query string. The proxy wrote it itself, so it can be parsed. */
function maskQuery(query: string): string {
  return maskContacts(decodeURIComponent(query.replaceAll('+', ' ')));
}
