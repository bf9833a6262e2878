import type { CallRecord, ErrorEnvelope, SampleAnswerDto } from '../../api/generated/schema';
import { isFields } from './draft';

/** What an app's answer may say of itself, be it the upstream's or the proxy's own. */
type Envelope = Partial<Omit<ErrorEnvelope, 'status'>> & { status?: string; data?: unknown };

/** What the record of the call will say, as far as its answer tells. */
type Outcome = Extract<
  CallRecord['outcome'],
  'succeeded' | 'rejected' | 'not_sent' | 'unknown' | 'refused' | 'pending_approval'
>;

export const envelopeOf = ({ body }: SampleAnswerDto): Envelope => (isFields(body) ? body : {});

/** The proxy's own answers to what came, or did not come, from the upstream; its others say that it refused by itself. */
const AFTER_SENDING: Partial<Record<ErrorEnvelope['code'], Outcome>> = {
  outcome_unknown: 'unknown',
  upstream_auth: 'rejected',
  upstream_busy: 'rejected',
  upstream_unreachable: 'not_sent',
};

export function outcomeOf(answer: SampleAnswerDto): Outcome {
  const { status, code, call_id: ours, data } = envelopeOf(answer);
  if (status === 'pending_approval') return 'pending_approval';
  if (ours !== undefined && code !== undefined) return AFTER_SENDING[code] ?? 'refused';
  const fault = isFields(data) ? data.error : undefined;
  const named = statusesIn(answer.body).length > 0;
  if (answer.status < 300 && status === 'success') {
    return fault === undefined || fault === 'None' || named ? 'succeeded' : 'rejected';
  }
  return named || answer.status === 500 ? 'unknown' : 'rejected';
}

const UNVERIFIED =
  'The upstream says that this failed, but it may have paid all the same. The proxy keeps the money reserved and the key taken, and asks the upstream what became of it; its story shows how that ends.';

/** In a few sentences, for who sees it for the first time. */
export function explain(answer: SampleAnswerDto): string {
  const { error } = envelopeOf(answer);
  const said = typeof error === 'string' ? error : undefined;
  switch (outcomeOf(answer)) {
    case 'succeeded':
      return ['The upstream carried it out.', ...becameOf(answer)].join(' ');
    case 'pending_approval':
      return 'Nothing was sent: it waits until somebody else approves it.';
    case 'unknown':
      if (envelopeOf(answer).code !== 'outcome_unknown') return UNVERIFIED;
      return 'It left, and nothing came back that says what became of it: it may be paid or not. The proxy never sends it again; it asks the upstream, and its story shows how that ends.';
    case 'rejected':
      return said === undefined ? 'The upstream said no.' : `The upstream said no. ${said}`;
    case 'not_sent':
      return said ?? 'The upstream could not be reached, and nothing was sent.';
    case 'refused':
      return `The proxy itself refused it, and nothing was sent. ${said ?? ''}`;
  }
}

/** "Of its items: 2 paid, 1 failed." Each transaction of an answer has a reference and a status. */
function becameOf({ body }: SampleAnswerDto): string[] {
  const counts = new Map<string, number>();
  for (const status of statusesIn(body)) counts.set(status, (counts.get(status) ?? 0) + 1);
  if (counts.size === 0) return [];
  return [`What became of it: ${[...counts].map(([status, count]) => `${count} ${status}`).join(', ')}.`];
}

function statusesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(statusesIn);
  if (!isFields(value)) return [];
  if ('chiRef' in value && typeof value.status === 'string') return [value.status];
  return Object.values(value).flatMap(statusesIn);
}
