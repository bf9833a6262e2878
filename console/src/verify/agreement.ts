import { possibleStates, recordedState } from '../../../src/operations/lifecycle/lifecycle';
import type { CallTimeline, RecordItem, RecordUpstreamItem } from '../api/generated/schema';
import { Comparison, type Leaf, type Leaves, listOf } from './comparison';
import { compareSettlements, compareStates, transactionOf } from './settlements';

/**
 * Compares the shown values of a call with its records. It leaves out people and bodies, which records only
 * commit to (people.ts). Names of clients are not in records, so IDs are compared.
 * @param away kinds of records that exist but cannot be read, because they are too new or pruned.
 * @param settlements all readable settlements, in order.
 */
export function compareTimeline(
  timeline: CallTimeline,
  leaves: Leaves,
  away: ReadonlySet<string>,
  settlements: readonly Leaf[],
): Comparison {
  const all = new Comparison();
  const { intent, refusal, outcome, decision, settlement } = leaves;
  if (intent) compareIntent(all, timeline, intent);
  else if (refusal) compareRefusal(all, timeline, refusal);
  if (outcome) compareOutcome(all, timeline, outcome, away.has('settlement') ? undefined : settlements);
  if (decision) compareDecision(all, timeline, decision);
  compareSettlements(all, timeline, settlements, away.has('settlement'));
  if (away.size === 0) {
    compareStates(all, timeline, outcome?.entries, settlements);
    all.plain('resolution', timeline.resolution?.outcome, settlement?.resolution);
    const words = outcomesOf(leaves);
    all.holds(words.includes(timeline.outcome), 'outcome', timeline.outcome, words.join(' or '));
  }
  const shown = {
    outcome: timeline.upstream,
    decision: timeline.approval?.decided_by ?? timeline.queue?.released_at,
    settlement: timeline.settlements.length,
    ...(!intent && { refusal: timeline.refusal }),
  };
  for (const [kind, value] of Object.entries(shown)) {
    const isThere = kind in leaves || away.has(kind);
    all.holds(
      isThere === Boolean(value),
      `a record of kind ${kind}`,
      value ? 'one' : 'none',
      isThere ? 'one' : 'none',
    );
  }
  return all;
}

function compareRequest(all: Comparison, timeline: CallTimeline, leaf: Leaf): void {
  all.plain('id', timeline.id, leaf.id);
  all.plain('operation', timeline.operation, leaf.operation);
  all.plain('client', timeline.client.id, leaf.client_id);
  all.plain('key', timeline.key_id, leaf.key_id);
  all.plain('ephemeral key', timeline.ephemeral_key_id, leaf.ephemeral_key_id);
  all.plain('person', timeline.person_id, leaf.person_id);
  all.plain('source of the person', timeline.actor_source, leaf.actor_source);
  compareCredential(all, timeline, leaf);
  // people.ts compares names and keys that the record commits to.
  if (typeof leaf.person_id !== 'string') all.plain('requester', timeline.actor, null);
  all.text('request id', timeline.request_id, leaf.request_id);
  all.plain('address', timeline.client_address, leaf.client_address);
  all.plain('trace', timeline.traceparent, leaf.traceparent);
  if (typeof leaf.idempotency_key_commitment !== 'string')
    all.plain('idempotency key', timeline.idempotency_key, null);
  all.time('received', timeline.timings.received_at, leaf.received_at);
  all.time('recorded', timeline.timings.recorded_at, leaf.recorded_at);
}

function compareIntent(all: Comparison, timeline: CallTimeline, leaf: Leaf): void {
  compareRequest(all, timeline, leaf);
  all.plain('number of items', timeline.item_count, leaf.item_count);
  all.amount('total in US dollars', timeline.total_usd, leaf.total_usd);
  all.amount('expected fees in US dollars', timeline.expected_fee_usd, leaf.expected_fee_usd);
  all.plain('coverage', timeline.coverage, leaf.coverage);
  all.plain('the call that caused it', timeline.caused_by, leaf.caused_by);
  all.plain('the call it deliberately duplicates', timeline.duplicate_of, leaf.duplicate_of ?? null);
  all.plain('the earlier payment', timeline.approval?.earlier_call_id, leaf.earlier_call_id);
  all.plain('the lost payment', timeline.approval?.unexplained_transaction, leaf.unexplained_transaction);
  all.plain('reason for approval', timeline.approval?.held_for, leaf.held_for);
  all.time('expiry', (timeline.approval ?? timeline.queue)?.expires_at, leaf.expires_at);
  if (timeline.approval) all.plain('content hash', timeline.approval.content_hash, leaf.body_commitment);
  const items = listOf(leaf.items);
  all.plain('items listed', timeline.items.length, items.length);
  for (const [at, item] of timeline.items.entries()) {
    all.plain(`place of item ${at + 1}`, item.position, at); // items are recorded in the order of the request
    compareItem(all, item, items[at] ?? {});
  }
}

/** Compares the token or session. A call's record has it as a member, and a refusal's as text. */
function compareCredential(all: Comparison, { token, session }: CallTimeline, leaf: Leaf): void {
  const recorded = typeof leaf.credential === 'string' ? (JSON.parse(leaf.credential) as Leaf) : leaf;
  const [ofToken, ofSession] = [(recorded.token ?? {}) as Leaf, (recorded.session ?? {}) as Leaf];
  all.plain('token', token?.jti, ofToken.jti);
  all.plain("key of the token's app", token?.jkt, ofToken.jkt);
  all.plain('acting party', token?.act?.person_id, (ofToken.act as Leaf | undefined)?.person_id);
  all.plain('page session', session?.id, ofSession.id);
  all.time(
    'sign-in of the person',
    (token ?? session)?.auth_time ?? null,
    (token ? ofToken : ofSession).auth_time,
  );
}

function compareItem(all: Comparison, item: RecordItem, leaf: Leaf): void {
  const name = (what: string) => `${what} of item ${item.position + 1}`;
  all.amount(name('amount'), item.amount_usd, leaf.amount_usd);
  all.plain(name('field of the recipient'), item.recipient_field, leaf.recipient_field);
  all.plain(name('note'), item.note !== null, leaf.handle_ignored === true);
  all.text(name('country'), item.country, leaf.country);
  all.text(name('network'), item.network_code, leaf.network_code);
  all.text(name('reference'), item.reference, leaf.reference);
  all.text(name('sub-account'), item.recipient.receiver, leaf.receiver);
  all.text(name('wallet'), item.wallet, leaf.wallet);
  all.text(name('transaction'), item.upstream_ref, leaf.upstream_ref);
}

/** @param settlements undefined if some cannot be read. */
function compareOutcome(
  all: Comparison,
  timeline: CallTimeline,
  leaf: Leaf,
  settlements: readonly Leaf[] | undefined,
): void {
  const { upstream, timings } = timeline;
  all.plain("status of the upstream's response", upstream?.status, leaf.upstream_status);
  all.plain('reason for no usable response', upstream?.failure, leaf.failure);
  all.plain('source of the response', upstream?.answer_of, leaf.answer_of);
  all.plain('attempts', upstream?.attempts, leaf.attempts);
  all.time('sent', timings.sent_at, leaf.sent_at);
  all.time('answered', timings.answered_at, leaf.answered_at);
  all.time('outcome recorded', timings.outcome_recorded_at, leaf.recorded_at);
  all.plain(
    'milliseconds to the response',
    timings.upstream_ms,
    leaf.upstream_ms === null ? null : Number(leaf.upstream_ms),
  );
  const tries = listOf(leaf.tries);
  all.plain('tries', upstream?.tries.length ?? 0, tries.length);
  for (const [at, shown] of (upstream?.tries ?? []).entries()) {
    const recorded = tries[at] ?? {};
    for (const field of ['started_at', 'phase', 'status', 'failure'] as const) {
      all.plain(`${field} of try ${at + 1}`, shown[field], recorded[field]);
    }
    all.plain(`milliseconds of try ${at + 1}`, shown.ms, Number(recorded.ms));
  }
  if (settlements) {
    const undelivered = [leaf, ...settlements].some((one) => one.undelivered === true);
    all.plain('undelivered response', timeline.undelivered, undelivered);
  }
  const transactions = listOf(leaf.items);
  const byPosition = new Map(transactions.map((one) => [one.position, one]));
  for (const item of settlements ? timeline.items : []) {
    const expected = transactionOf(item, byPosition.get(item.position), settlements ?? []);
    compareTransaction(all, `of item ${item.position + 1}`, item.upstream, expected);
  }
  for (const { entry, position } of timeline.ledger.filter(
    ({ source, entry }) => source === 'answer' && entry !== 'fee',
  )) {
    const entries: unknown = Array.isArray(leaf.entries) ? leaf.entries[position] : leaf.entries;
    all.plain(`answer about item ${position + 1}`, entry, entries);
  }
  const others = transactions.filter(({ position }) => position === undefined);
  all.plain('other transactions', upstream?.other_items.length ?? 0, others.length);
  for (const [at, shown] of (upstream?.other_items ?? []).entries()) {
    compareTransaction(all, `of other transaction ${at + 1}`, shown, others[at]);
  }
}

function compareTransaction(
  all: Comparison,
  owner: string,
  shown: RecordUpstreamItem | null,
  leaf: Leaf | undefined,
): void {
  all.text(`upstream reference ${owner}`, shown?.upstream_ref, leaf?.upstream_ref);
  all.text(`upstream's id ${owner}`, shown?.upstream_id, leaf?.upstream_id);
  all.text(`batch ${owner}`, shown?.batch_ref, leaf?.batch_ref);
  all.text(`upstream's status ${owner}`, shown?.status, leaf?.status);
  all.amount(`upstream's amount ${owner}`, shown?.amount_usd, leaf?.amount_usd);
  all.text(`telco's status ${owner}`, shown?.payout_status, leaf?.payout_status);
  all.text(`telco's error ${owner}`, shown?.payout_error, leaf?.payout_error);
  all.plain(
    `differences ${owner}`,
    JSON.stringify(shown?.differs ?? []),
    JSON.stringify(leaf?.differs ?? []),
  );
}

function compareRefusal(all: Comparison, timeline: CallTimeline, leaf: Leaf): void {
  const { refusal } = timeline;
  compareRequest(all, timeline, leaf);
  all.plain('status of our response', refusal?.status, leaf.status);
  all.plain('reason for the refusal', refusal?.code, leaf.code);
  all.text('reason for the refusal', refusal?.detail, leaf.detail);
  all.plain('number of faults', refusal?.error_count, leaf.fault_count);
  all.plain('the call that it replays', refusal?.first_call_id, leaf.first_call_id);
  const faults = typeof leaf.faults === 'string' ? (JSON.parse(leaf.faults) as Leaf[]) : [];
  all.plain('faults listed', refusal?.errors.length ?? 0, faults.length);
  for (const [at, shown] of (refusal?.errors ?? []).entries()) {
    all.text(`place of fault ${at + 1}`, shown.pointer, faults[at]?.pointer);
    all.text(`fault ${at + 1}`, shown.detail, faults[at]?.detail);
  }
}

function compareDecision(all: Comparison, { approval, queue }: CallTimeline, leaf: Leaf): void {
  all.plain('screening at the decision', (approval ?? queue)?.screening, leaf.screening);
  all.plain('decision', queue ? 'released' : approval?.status, leaf.kind);
  all.time('time of the decision', queue ? queue.released_at : approval?.decided_at, leaf.decided_at);
  if (queue) return; // Nobody decided.
  all.text('reason for the decision', approval?.reason, leaf.reason);
  all.person('decider', approval?.decided_by, leaf);
}

/** Returns the outcomes that a page may show for a call with these records. */
function outcomesOf(leaves: Leaves): string[] {
  const { intent, outcome, decision, settlement } = leaves;
  const word = (value: unknown) => (typeof value === 'string' ? value : null);
  const facts = {
    outcome: word(outcome?.kind),
    refused: !intent,
    resolution: word(settlement?.resolution),
    held: word(intent?.held_for) !== null,
    queued: word(intent?.held_for) === null && word(intent?.expires_at) !== null,
    decision: word(decision?.kind),
  };
  return possibleStates(recordedState(facts));
}
