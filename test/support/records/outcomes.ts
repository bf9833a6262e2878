import { NewOutcome } from '../../../src/journal/records/records';

/** Returns the outcome of a call with one paid payout. */
export function paidOutcome(intentId: string): NewOutcome {
  return {
    intentId,
    kind: 'succeeded',
    failure: null,
    upstreamStatus: 200,
    contentType: null,
    retryAfter: null,
    body: Buffer.from('paid'),
    items: [
      {
        position: 0,
        upstreamRef: '+254712345678', // Some upstreams use such references.
        upstreamId: null,
        batchRef: null,
        status: 'paid',
        amountUsd: null,
        feeUsd: null,
      },
    ],
    entries: ['paid'],
    sentAt: new Date(),
    answeredAt: new Date(),
    upstreamMs: 1,
    answerOf: null,
    attempts: 1,
    tries: [],
  };
}
