import { isDeeperThan } from '../../http/validation/json-body';
import { accountNamed } from '../../journal/records/accounts';
import { actorOf } from '../../journal/records/author';
import { CredentialDocument, OutcomeDocument } from '../../journal/records/documents';
import { SHOWN_MEMBERS, ShownName } from '../../journal/records/request-members';
import { isUndelivered } from '../../journal/settlement/settled-by-upstream';
import { inDoubtSince, stateOf } from '../../operations/lifecycle/lifecycle';
import { Prisma } from '../../platform/database/generated/client';
import { Fault } from '../../platform/errors/problem';
import { readExactJson } from '../../platform/json/exact-json';
import { maskContacts, maskKey } from '../../platform/privacy/contacts';
import { writtenNumbers } from '../../platform/privacy/recorded';
import { itemsOf, toUpstreamItem } from './items';
import { RecordTry, RecordUpstream } from './record-parts.dto';
import { CallRecord, ItemRecord, RecordItem, RecordMessage } from './record.dto';
import { FullStoredCall, StoredCall } from './rows';
import { approvalOf, doubtOf, resolutionOf, settlementsOf, queueOf } from './settlement';
import { maskBody, shown, View, clientOf } from './view';

/** Maximum depth of structured answers. Deeper ones are shown as text, to prevent a stack overflow. */
const MAX_SHOWN_DEPTH = 64;

/** A refusal with its idempotency key and its requester. An erased key or name has no salt. */
type RefusalRow = Prisma.RefusalGetPayload<{ include: { key: true; person: true } }>;

/** @param isShown whether to show the item at a position. */
export function fromIntent(call: StoredCall, view: View, isShown: (position: number) => boolean): CallRecord {
  const { intent, actor, outcome, lifecycle } = call;
  return toRecord(intent, view, {
    id: intent.id,
    operation: intent.operation,
    client: clientOf(intent.client_id, view),
    account: accountNamed(intent.account),
    actor: shown(actor, view.reveal, maskContacts),
    idempotency_key: shown(call.key?.text, view.reveal, maskKey),
    token: toToken(intent),
    session: toSession(intent),
    outcome: stateOf(lifecycle, view.present),
    in_doubt_since: inDoubtSince(lifecycle, view.present),
    item_count: intent.item_count,
    undelivered: isUndelivered(call),
    recovered: intent.recovered ?? false,
    items: itemsOf(call, view, isShown),
    upstream: outcome && toUpstream(outcome, view),
    refusal: null,
    approval: approvalOf(call, view),
    queue: queueOf(call),
    resolution: resolutionOf(call, view),
    settlements: settlementsOf(call, view),
    doubt: doubtOf(call, view),
    timings: timingsOf(intent, outcome),
  });
}

export function fromRefusal(refusal: RefusalRow, view: View): CallRecord {
  const { status, code, detail, faults, faultCount, firstCallId, key, person } = refusal;
  const credential = (refusal.credential ?? {}) as CredentialDocument;
  const committed = refusal.actorCommitment && Buffer.from(refusal.actorCommitment).toString('hex');
  const members = Object.fromEntries(SHOWN_FIELDS.map(([name, field]) => [name, refusal[field]]));
  return toRecord(members, view, {
    id: refusal.id,
    operation: refusal.operation,
    client: clientOf(refusal.clientId, view),
    account: accountNamed(view.clients.get(refusal.clientId)?.account),
    actor: shown(actorOf(committed, person), view.reveal, maskContacts),
    idempotency_key: shown(key?.salt ? key.key : null, view.reveal, maskKey),
    token: toToken(credential),
    session: toSession(credential),
    outcome: 'refused',
    in_doubt_since: null,
    item_count: 0,
    undelivered: false,
    recovered: false,
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
    queue: null,
    resolution: null,
    settlements: [],
    doubt: null,
    timings: timingsOf({ received_at: refusal.receivedAt, recorded_at: refusal.recordedAt }, null),
  });
}

function timingsOf(
  request: Record<'received_at' | 'recorded_at', string | Date>,
  outcome: OutcomeDocument | null,
): CallRecord['timings'] {
  return {
    received_at: new Date(request.received_at),
    recorded_at: new Date(request.recorded_at),
    sent_at: outcome && new Date(outcome.sent_at),
    answered_at: outcome && new Date(outcome.answered_at),
    outcome_recorded_at: outcome && new Date(outcome.recorded_at),
    upstream_ms: outcome && Number(outcome.upstream_ms),
  };
}

function toToken({ token }: CredentialDocument): CallRecord['token'] {
  if (!token) return null;
  const { act, auth_time = null, jkt = null, jti = null } = token;
  return { jti, jkt, auth_time, act: act ? { person_id: act.person_id } : null };
}

function toSession({ session }: CredentialDocument): CallRecord['session'] {
  return session ? { id: session.id, auth_time: session.auth_time ?? null } : null;
}

function toUpstream({ items = [], tries = [], ...outcome }: OutcomeDocument, view: View): RecordUpstream {
  return {
    status: outcome.upstream_status ?? null,
    failure: outcome.failure ?? null,
    answer_of: outcome.answer_of ?? null,
    attempts: outcome.attempts,
    tries: tries.map(({ failure = null, ms, phase, started_at, status = null }) => ({
      failure,
      ms: Number(ms),
      phase: phase as RecordTry['phase'],
      started_at,
      status,
    })),
    other_items: items
      .filter(({ position }) => position === undefined)
      .map((item) => toUpstreamItem(item, view)),
  };
}

/** Combines one payout with the fields of its call. Omits transactions without a certain payout. */
export function toItemRecord({ items: _, upstream, ...call }: CallRecord, item: RecordItem): ItemRecord {
  return { item, ...call, upstream: upstream && withoutOthers(upstream) };
}

function withoutOthers({ other_items: _, ...upstream }: RecordUpstream) {
  return upstream;
}

/** Returns the request and the answer: JSON as values, other content as text. */
export function toMessages(
  { intent, people, body, outcome }: FullStoredCall,
  response: { body: Uint8Array } | null,
  reveal: boolean,
): { request: RecordMessage; response: RecordMessage | null } {
  const phones = people.flatMap(({ phone }) => phone ?? []);
  const read = (bytes: Uint8Array | undefined) => (bytes ? readBody(bytes, phones, reveal) : null);
  return {
    request: { query: shown(intent.query, reveal, maskQuery), body: read(body?.body) },
    response: outcome && { body: read(response?.body) },
  };
}

function readBody(bytes: Uint8Array, phones: string[], reveal: boolean): unknown {
  const text = Buffer.from(bytes).toString('utf8');
  try {
    const json = readExactJson(text, String); // Readers of our JSON would lose the digits of a long number.
    if (isDeeperThan(json, MAX_SHOWN_DEPTH)) return reveal ? text : maskBody(text);
    return reveal ? json : maskBody(json, writtenNumbers([...phones, ...(text.match(PHONES) ?? [])]));
  } catch {
    return reveal ? text : maskBody(text);
  }
}

/** Phone numbers of other people in the upstream's listings. */
const PHONES = /\+[1-9]\d{6,14}(?!\d)/g;

/**
 * Adds the members of the request to a record. For `{ ...members, …own }` with this many members, V8 would
 * create a dictionary of 14 kB, and a page has hundreds of records.
 */
function toRecord(members: object, { reveal }: View, own: Omit<CallRecord, ShownName>): CallRecord {
  const record = own as CallRecord & Members;
  for (const { name, masked } of SHOWN_MEMBERS) {
    record[name] = shown((members as Members)[name], reveal || !masked, maskContacts);
  }
  return record;
}

type Members = Record<string, string | null | undefined>;

/** Members of the request, with their columns in Prisma. */
const SHOWN_FIELDS = SHOWN_MEMBERS.map(({ name }) => {
  const field = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return [name, field as keyof RefusalRow] as const;
});

/** Masks the query string, which the proxy wrote in a parsable form. */
function maskQuery(query: string): string {
  return maskContacts(decodeURIComponent(query.replaceAll('+', ' ')));
}
