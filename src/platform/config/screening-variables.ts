import { Variable } from './variable';

/** The purpose of the variables of the screening service. */
export const SCREENING_VARIABLES = {
  SCREENING_URL: {
    section: 'payouts',
    about:
      'The address of a service that allows, denies or holds each call by its recipients. Production requires `https://`. See [Screening](../operate/screening.md).',
    unset: 'none',
  },
  SCREENING_SECRET: {
    section: 'payouts',
    about: 'The secret that signs requests to the service. In production it has at least 24 bytes.',
    unset: 'none',
  },
  SCREENING_TIMEOUT_MS: {
    section: 'payouts',
    about: 'Time for its whole answer. After it, the call gets 503 `screening_unavailable`.',
  },
} as const satisfies Record<string, Variable>;
