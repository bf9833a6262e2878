/** A person decides about a held call, which takes minutes at least. `?wait=` tells sooner. */
const HELD_RETRY_SECONDS = 10;

/** A queued call is sent as soon as the upstream has room for it. */
const QUEUED_RETRY_SECONDS = 5;

/** A comparison of a quiet day takes seconds. */
const RUN_RETRY_SECONDS = 2;

/** Headers of a 202: where the result will be, and in how many seconds to look. */
const accepted = (location: string, seconds: number) => ({ location, 'retry-after': seconds });

export const heldCallHeaders = (id: string) => accepted(`/v1/calls/${id}`, HELD_RETRY_SECONDS);
export const queuedCallHeaders = (id: string) => accepted(`/v1/calls/${id}`, QUEUED_RETRY_SECONDS);
export const runHeaders = (id: string) => accepted(`/v1/reconciliation/runs/${id}`, RUN_RETRY_SECONDS);

/** Documents the headers of a 202. */
export const ACCEPTED_HEADERS = {
  Location: { description: 'The path to read for the outcome.', schema: { type: 'string' } },
  'Retry-After': {
    description: 'Seconds to wait before you read it.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const;

/** Documents the headers of a 202 to a payment or a write. */
export const ACCEPTED_CALL_HEADERS = {
  ...ACCEPTED_HEADERS,
  'Preference-Applied': {
    description: '`respond-async` if the call waits for its turn.',
    schema: { type: 'string' },
  },
} as const;
