import Decimal from 'decimal.js';
import { ListedType, Lists, noLies, ShownWords } from './lies';

/** Oddities observed in such services (docs/reference/upstream.md, "Traps"), with their defaults. */
export const QUIRKS = {
  /** A success has `error: "None"`, its `payouts` have `errorMessage: "None"` (trap 1). Off omits both. */
  errorNone: true,
  /** An unknown ID gets HTTP 200 with `status: "success"` and `data.error` (trap 2). Off sends a 400. */
  errorWithinSuccess: true,
  /** A rejection is HTTP 200 with `status: "error"` (trap 2). Off sends a 400. */
  errorWith200: false,
  /** `valueInUSD` is a string (trap 3). */
  amountsAsStrings: false,
  /** Balances carry the error of binary fractions, such as 529.0179999999988 (trap 3). */
  floatBalances: false,
  /** `payouts` is a map `{"0": …, "issueID": …}` instead of an array (trap 5). */
  payoutsAsMap: false,
  /** One bad phone number fails the whole airtime batch (trap 9). Off fails only its item. */
  badPhoneFailsBatch: true,
  /** `chiRef` is a number in events (trap 4). */
  numericChiRefInEvents: false,
  /** Status words are the newer ones: SUCCESSFUL, PENDING, FAILED, in answers and events (trap 10). */
  newStatusWords: false,
};

export type QuirkName = keyof typeof QUIRKS;

/** Address and form of events. */
export interface EventSettings {
  /** Address of events. Empty sends none. */
  url: string;
  /** Signing secret: `whsec_` and base64, or any text. */
  secret: string;
  /** Number of deliveries of each event. */
  copies: number;
  /** Whether events that are due at the same time are delivered in the opposite order. */
  reversed: boolean;
}

/** Behaviour of this sandbox. The control interface changes it at run time. */
export interface Behaviour {
  quirks: Record<QuirkName, boolean>;
  /** Fee on each payout's total, in percent. The wallet pays it in addition. */
  feePercent: Decimal;
  /** Delay of the faults of magic recipients, in ms. */
  magicMs: number;
  /** Time between the answer and the change of a magic recipient's transactions, in ms. */
  laterMs: number;
  /** Whether the fee comes back with the value of a payout that fails, or is reversed or refunded. */
  returnsFee: boolean;
  /** Age at which an unpaid transaction expires, in ms. */
  unpaidExpiresAfterMs: number;
  /** Age at which lists show a transaction, in ms, by type. Reads by ID show it earlier. */
  listedAfterMs: Record<ListedType, number>;
  words: ShownWords;
  lists: Lists;
  events: EventSettings;
}

const SEVEN_DAYS_MS = 7 * 24 * 60 * 60 * 1_000;

export function defaultBehaviour(): Behaviour {
  return {
    quirks: { ...QUIRKS },
    feePercent: new Decimal(0),
    magicMs: 3_000,
    laterMs: 2_000, // Long enough for a reader to see the earlier status.
    returnsFee: true,
    unpaidExpiresAfterMs: SEVEN_DAYS_MS,
    listedAfterMs: { airtime: 0, momo: 0, credit: 0, transfer: 0, payment: 0 },
    ...noLies(),
    events: { url: '', secret: 'sandbox-events', copies: 1, reversed: false },
  };
}
