import type { CallRecord, ProblemDetails, SampleAnswerDto } from '../../../api/generated/schema';
import { isFields } from './draft';

/** Parts of a response that describe it, from the upstream or the proxy. */
type Envelope = Partial<Pick<ProblemDetails, 'error' | 'code' | 'action' | 'call_id' | 'errors'>> & {
  status?: string;
  data?: unknown;
};

/** Outcome of the call, as far as the response shows it. */
type Outcome = Extract<
  CallRecord['outcome'],
  'succeeded' | 'not_sent' | 'unknown' | 'refused' | 'pending_approval'
>;

export const envelopeOf = ({ body }: SampleAnswerDto): Envelope => (isFields(body) ? body : {});

/** Outcomes by problem code of sent requests. With any other code, the proxy rejected the request. */
const AFTER_SENDING: Partial<Record<ProblemDetails['code'], Outcome>> = {
  outcome_unknown: 'unknown',
  upstream_auth: 'unknown',
  upstream_busy: 'unknown',
  upstream_unreachable: 'not_sent',
};

export function outcomeOf(answer: SampleAnswerDto): Outcome {
  const { status, code, call_id: ours, data } = envelopeOf(answer);
  if (status === 'pending_approval') return 'pending_approval';
  if (ours !== undefined && code !== undefined) return AFTER_SENDING[code] ?? 'refused';
  const fault = isFields(data) ? data.error : undefined;
  const named = statusesIn(answer.body).length > 0;
  if (answer.status < 300 && status === 'success') {
    return fault === undefined || fault === 'None' || named ? 'succeeded' : 'unknown';
  }
  return 'unknown';
}

const UNVERIFIED =
  'The upstream reported a failure, but it may have paid anyway. The proxy keeps the money and the ' +
  'key reserved and asks the upstream for the outcome. The history of the call shows the result.';

/** Explains a response in a few sentences, for newcomers. */
export function explain(answer: SampleAnswerDto): string {
  const { error } = envelopeOf(answer);
  const message = typeof error === 'string' ? error : undefined;
  switch (outcomeOf(answer)) {
    case 'succeeded':
      return ['The upstream carried out the request.', ...itemOutcomes(answer)].join(' ');
    case 'pending_approval':
      return 'Nothing was sent. The request is pending approval by another person.';
    case 'unknown':
      if (envelopeOf(answer).code !== 'outcome_unknown') return UNVERIFIED;
      return (
        'The request was sent, but the response does not show the outcome. It may or may not have been ' +
        'paid. The proxy never sends it again. It asks the upstream, and the history of the call shows ' +
        'the result.'
      );
    case 'not_sent':
      return message ?? 'The upstream could not be reached. Nothing was sent.';
    case 'refused':
      return `The proxy rejected the request. Nothing was sent. ${message ?? ''}`;
  }
}

/** Describes the items, such as "Outcome: 2 paid, 1 failed.", by the reference and status of each. */
function itemOutcomes({ body }: SampleAnswerDto): string[] {
  const counts = new Map<string, number>();
  for (const status of statusesIn(body)) counts.set(status, (counts.get(status) ?? 0) + 1);
  if (counts.size === 0) return [];
  return [`Outcome: ${[...counts].map(([status, count]) => `${count} ${status}`).join(', ')}.`];
}

function statusesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(statusesIn);
  if (!isFields(value)) return [];
  if ('chiRef' in value && typeof value.status === 'string') return [value.status];
  return Object.values(value).flatMap(statusesIn);
}
