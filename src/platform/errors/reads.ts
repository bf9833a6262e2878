import { Action } from './kinds';
import { DATABASE_CODES } from './outages';
import { ProblemCode, PROBLEMS } from './problems';

interface ReadText {
  text: string;
  action?: Action;
}

/** Returns the first sentence of a code's text: what happened. */
export function happenedOf(code: ProblemCode): string {
  return /^.*?\.(?= |$)/.exec(PROBLEMS[code].text)?.[0] ?? '';
}

/** The codes of reads that may be sent again later. */
const TRY_AGAIN: ProblemCode[] = [...DATABASE_CODES, 'overloaded', 'upstream_unreachable'];

/** Texts of reads, for codes whose usual text mentions sending or keys. */
export const FOR_READS: Readonly<Partial<Record<ProblemCode, ReadText>>> = {
  internal_error: { text: 'The proxy failed to answer this request. Give the call_id to the operator.' },
  provider_unavailable: {
    text:
      'The access token cannot be verified, because the identity provider does not answer. Try again ' +
      'later.',
  },
  token_expired: {
    text: 'This access token has expired. Get a new one from the identity provider and try again.',
  },
  ...Object.fromEntries(
    TRY_AGAIN.map((code) => [code, { text: `${happenedOf(code)} Try again after Retry-After.` }]),
  ),
  upstream_busy: {
    text: `${happenedOf('upstream_busy')} Try again after Retry-After.`,
    action: 'retry_same_key',
  },
  upstream_auth: {
    text: `${happenedOf('upstream_auth')} The operator has to correct them.`,
    action: 'ask',
  },
  stopped: { text: happenedOf('stopped') },
  outcome_unknown: {
    text: 'The payout service gave no usable answer. A read changes nothing, so it is safe to try again.',
    action: 'retry_same_key',
  },
};
