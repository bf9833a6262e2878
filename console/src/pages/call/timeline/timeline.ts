import type { CallTimeline, RecordPerson } from '../../../api/generated/schema';
import { inWords } from '../../../components/values/format';
import { heldForWords } from '../../../words/approvals';
import { PHASE_WORDS, SETTLEMENT_SOURCE_WORDS } from '../../../words/calls';

/** One event in the history of a call. */
export interface TimelineEvent {
  title: string;
  /** ISO 8601. Null if unknown. */
  at: string | null;
  color: 'gray' | 'blue' | 'teal' | 'orange' | 'red' | 'violet';
  /** Description, one entry per paragraph. */
  lines: string[];
  /** A list below the description. */
  list?: string[];
  /** Related calls, by their IDs. */
  calls?: string[];
}

/** Returns the history of a call in order. The seal is shown separately. */
export function timelineOf(timeline: CallTimeline): TimelineEvent[] {
  return [
    received(timeline),
    ...(timeline.refusal ? [refused(timeline.refusal, timeline)] : [intent(timeline)]),
    ...approval(timeline),
    ...queue(timeline),
    ...attempts(timeline),
    ...outcome(timeline),
    ...doubt(timeline),
    ...settlements(timeline),
  ];
}

function received({ timings, client_address, client, actor }: CallTimeline): TimelineEvent {
  const requester = `${client.name ?? client.id}${actor === null ? '' : `, for ${actor}`}`;
  return {
    title: 'Received',
    at: timings.received_at,
    color: 'blue',
    lines: [`From ${requester}, at ${client_address}.`],
  };
}

function intent({ timings, recovered }: CallTimeline): TimelineEvent {
  const [title, lines] = recovered
    ? [
        'Intent restored',
        'The database had lost the intent, which was recorded before anything was sent. It was ' +
          'restored from a copy.',
      ]
    : ['Intent recorded', 'Recorded before anything was sent.'];
  return { title, at: timings.recorded_at, color: 'blue', lines: [lines] };
}

const FAULTS_SHOWN = 20;

function refused(
  { status, code, detail, errors, error_count, first_call_id }: Refusal,
  { timings }: CallTimeline,
): TimelineEvent {
  const more = error_count - Math.min(errors.length, FAULTS_SHOWN);
  return {
    title: `Refused: ${inWords(code)}`,
    at: timings.recorded_at,
    color: 'orange',
    lines: [detail, `Answered with ${status}. Nothing was sent.`],
    list: [
      ...errors.slice(0, FAULTS_SHOWN).map((fault) => `${fault.pointer || 'the body'}: ${fault.detail}`),
      ...(more > 0 ? [`… and ${more} more`] : []),
    ],
    calls: first_call_id === null ? [] : [first_call_id],
  };
}

type Refusal = NonNullable<CallTimeline['refusal']>;

function approval({ approval: held, timings }: CallTimeline): TimelineEvent[] {
  if (!held) return [];
  const { held_for, earlier_call_id, unexplained_transaction, status, decided_at, expires_at } = held;
  const waits: TimelineEvent = {
    title: 'Held for approval',
    at: timings.recorded_at,
    color: 'violet',
    lines: [
      heldForWords(held_for),
      ...(unexplained_transaction === null ? [] : [`Transaction ${unexplained_transaction}.`]),
    ],
    calls: earlier_call_id === null ? [] : [earlier_call_id],
  };
  if (status === 'pending')
    return [waits, { title: 'Pending, expires', at: expires_at, color: 'gray', lines: [] }];
  if (status === 'expired') {
    return [
      waits,
      { title: 'Expired', at: expires_at, color: 'gray', lines: ['No decision was made. Nothing was sent.'] },
    ];
  }
  const isApproved = status === 'approved';
  return [
    waits,
    {
      title: isApproved ? 'Approved' : 'Rejected',
      at: decided_at,
      color: isApproved ? 'teal' : 'orange',
      lines: decisionWords(held),
    },
  ];
}

function queue({ queue: turn, timings, outcome: word }: CallTimeline): TimelineEvent[] {
  if (!turn) return [];
  const { released_at, expires_at } = turn;
  const waits: TimelineEvent = {
    title: 'Queued',
    at: timings.recorded_at,
    color: 'blue',
    lines: ['Accepted, to be sent in its turn. Its amount is reserved.'],
  };
  if (released_at !== null)
    return [waits, { title: 'Its turn came', at: released_at, color: 'blue', lines: [] }];
  const expires: TimelineEvent = { title: 'Queued, expires', at: expires_at, color: 'gray', lines: [] };
  return word === 'queued' ? [waits, expires] : [waits];
}

function decisionWords({ decided_by, reason, screening }: NonNullable<CallTimeline['approval']>): string[] {
  return [
    `By ${nameOf(decided_by)}.`,
    ...(reason === null ? [] : [`“${reason}”`]),
    ...(screening === null ? [] : [`Screening result: ${screening}.`]),
  ];
}

function attempts({ upstream, timings }: CallTimeline): TimelineEvent[] {
  if (!upstream) return [];
  const { answer_of, tries } = upstream;
  if (answer_of !== null) {
    const lines = ['Another call made the same request a short time ago. Its response was reused.'];
    return [{ title: 'Answered from cache', at: timings.sent_at, color: 'blue', lines, calls: [answer_of] }];
  }
  return tries.map(({ started_at, ms, phase, status, failure }, at) => ({
    title:
      tries.length === 1
        ? 'Sent to the upstream'
        : `Sent to the upstream, attempt ${at + 1} of ${tries.length}`,
    at: started_at,
    color: failure === null ? 'blue' : 'orange',
    lines: [
      `${PHASE_WORDS[phase] ?? inWords(phase)} It took ${ms} ms` +
        `${status === null ? '' : `; status ${status}`}.`,
      ...(failure === null ? [] : [`No usable response: ${inWords(failure)}.`]),
    ],
  }));
}

function outcome({ upstream, timings, outcome: word }: CallTimeline): TimelineEvent[] {
  if (!upstream) return [];
  const { status, failure } = upstream;
  const answered: TimelineEvent = {
    title: status === null ? 'Timed out' : `Answered with ${status}`,
    at: timings.answered_at,
    color: failure === null ? 'teal' : 'red',
    lines: failure === null ? [] : [`No usable response: ${inWords(failure)}.`],
  };
  const isDoubtful = failure !== null && ['unknown', 'confirmed', 'not_executed'].includes(word);
  const lines = isDoubtful ? ['This response does not show whether the upstream carried out the call.'] : [];
  return [
    answered,
    { title: 'Outcome recorded', at: timings.outcome_recorded_at, color: isDoubtful ? 'red' : 'teal', lines },
  ];
}

function doubt({ in_doubt_since, doubt: looked }: CallTimeline): TimelineEvent[] {
  if (in_doubt_since === null) return [];
  const since: TimelineEvent = {
    title: 'In doubt',
    at: in_doubt_since,
    color: 'red',
    lines: ['The call may or may not have been carried out. It is never sent again.'],
  };
  if (!looked) return [since];
  const list = looked.transactions.map(({ upstream_ref, upstream_id, amount_usd, status }) => {
    const amount = amount_usd === null ? null : `${amount_usd} USD`;
    return `may be ${[upstream_ref ?? upstream_id, amount, status].filter(Boolean).join(', ')}`;
  });
  const { decided_at, reason, calls } = looked;
  return [
    since,
    { title: 'Could not be settled', at: decided_at, color: 'red', lines: [reason], list, calls },
  ];
}

function settlements({ settlements: newestFirst }: CallTimeline): TimelineEvent[] {
  return [...newestFirst]
    .reverse()
    .map(({ outcome, reason, source, recorded_at, recorded_by, entries }, place) => ({
      title: `${place === 0 ? 'Settled' : 'Settled again'}${outcome === null ? '' : `: ${inWords(outcome)}`}`,
      at: recorded_at,
      color: 'teal',
      lines: [
        recorded_by ? `By ${nameOf(recorded_by)}.` : (SETTLEMENT_SOURCE_WORDS[source] ?? 'By the proxy.'),
        `“${reason}”`,
      ],
      list: entries.map(
        ({ position, entry, amount_usd }) =>
          `payout ${position + 1}: ${inWords(entry)}${amount_usd === null ? '' : `, ${amount_usd} USD`}`,
      ),
    }));
}

/** Returns the person and the client of the key, or the client alone. */
function nameOf(person: RecordPerson | null): string {
  if (!person) return 'an unknown person';
  const client = person.client.name ?? person.client.id;
  return person.actor === null ? client : `${person.actor} (${client})`;
}
