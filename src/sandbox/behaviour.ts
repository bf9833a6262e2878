import Decimal from 'decimal.js';

/**
 * Oddities that such services were seen to have (docs/reference/upstream.md, "Traps"), by name, with
 * whether a sandbox has them that nobody told otherwise.
 */
export const QUIRKS = {
  /** `error: "None"` in the data of a success, and `errorMessage: "None"` in `payouts` (trap 1); off, they are left out. */
  errorNone: true,
  /** What is not found is HTTP 200 with `status: "success"` and `data.error` (trap 2); off, it is a 400. */
  errorWithinSuccess: true,
  /** What is turned down is HTTP 200 with `status: "error"` (trap 2); off, it is a 400. */
  errorWith200: false,
  /** `valueInUSD` is a string (trap 3). */
  amountsAsStrings: false,
  /** Balances carry the error of binary fractions, such as 529.0179999999988 (trap 3). */
  floatBalances: false,
  /** `payouts` is a map `{"0": …, "issueID": …}` instead of an array (trap 5). */
  payoutsAsMap: false,
  /** One bad phone number fails the whole airtime batch (trap 9); off, only its own item fails. */
  badPhoneFailsBatch: true,
  /** `chiRef` is a number in events (trap 4). */
  numericChiRefInEvents: false,
  /** Status words are the newer ones: SUCCESSFUL, PENDING, FAILED, in answers and in events (trap 10). */
  newStatusWords: false,
};

export type QuirkName = keyof typeof QUIRKS;

/** Where and how events are sent. */
export interface EventSettings {
  /** Nothing is sent where it is empty. */
  url: string;
  /** Of the signature; `whsec_` and base64, or any text. */
  secret: string;
  /** Each event is delivered this many times. */
  copies: number;
  /** Events that became due together are delivered in the opposite order. */
  reversed: boolean;
}

/** The types of transactions; a list may show one of them later than another. */
export const LISTED_TYPES = ['airtime', 'momo', 'credit', 'transfer', 'payment'] as const;

export type ListedType = (typeof LISTED_TYPES)[number];

/** How this sandbox behaves; the control interface changes it while it runs. */
export interface Behaviour {
  quirks: Record<QuirkName, boolean>;
  /** Of each payout's total, taken from the paying wallet on top of it. */
  feePercent: Decimal;
  /** `ms` of the faults of magic recipients: how long they delay or wait. */
  magicMs: number;
  /** An unpaid transaction of this age is expired. */
  unpaidExpiresAfterMs: number;
  /** By type: a transaction that is younger is not listed yet, though it can be read by its id. */
  listedAfterMs: Record<ListedType, number>;
  events: EventSettings;
}

const SEVEN_DAYS_MS = 7 * 24 * 60 * 60 * 1_000;

export function defaultBehaviour(): Behaviour {
  return {
    quirks: { ...QUIRKS },
    feePercent: new Decimal(0),
    magicMs: 3_000,
    unpaidExpiresAfterMs: SEVEN_DAYS_MS,
    listedAfterMs: { airtime: 0, momo: 0, credit: 0, transfer: 0, payment: 0 },
    events: { url: '', secret: 'sandbox-events', copies: 1, reversed: false },
  };
}
