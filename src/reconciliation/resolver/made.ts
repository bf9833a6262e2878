/** What an operation makes at the upstream, as the listing of its transactions shows it. */
export interface Made {
  /** The upstream's word (upstream-observed.md, "Transaction record"). */
  type: string;
  /** A payout is never unpaid. */
  pays: boolean;
  /** A collection names its amount in the currency of the payer: there, the reference must be the same instead. */
  byReference?: true;
  /** It is not documented that the listing has them: one that is missing does not show that the listing is incomplete. */
  maybeListed?: true;
}

const LINK: Made = { type: 'credit', pays: false, maybeListed: true };
const COLLECTION: Made = { type: 'payment', pays: false, byReference: true, maybeListed: true };
const TRANSFER: Made = { type: 'transfer', pays: true, maybeListed: true };

/** By operation. Those that pay or write and are not listed here make no transaction that could be recognised. */
export const MADE: ReadonlyMap<string, Made> = new Map([
  ['POST /payouts/airtime', { type: 'airtime', pays: true }],
  ['POST /payouts/mobile-money', { type: 'momo', pays: true }],
  ['POST /payouts/credit', { type: 'credit', pays: true }],
  ['POST /send', LINK],
  ['POST /payouts/initiate-credit', LINK],
  ['POST /account/transfer', TRANSFER],
  ['POST /wallets/transfer', TRANSFER],
  ['POST /collections/mobile-money/collect', COLLECTION],
  ['POST /collections/mobile-money/initiate', COLLECTION],
]);

/** Operations on one transaction that is there already, by what they leave it as. */
export const CHANGED: ReadonlyMap<string, 'deleted' | 'redeemed'> = new Map([
  ['POST /account/delete-unpaid-transaction', 'deleted'],
  ['POST /redeem/airtime', 'redeemed'],
]);

/** What is made so that nothing the upstream shows tells one from another. */
export const UNRECOGNISABLE: ReadonlySet<string> = new Set([
  'POST /collections/mobile-money/verify',
  'POST /sub-account/create',
]);

/** What may be in doubt and is of interest: what reads changes nothing. */
export const SETTLED_OPERATIONS: readonly string[] = [...MADE.keys(), ...CHANGED.keys(), ...UNRECOGNISABLE];

/** The known words for types: a transaction of another one is none of ours. */
const TYPES: ReadonlySet<string> = new Set([...MADE.values()].map(({ type }) => type));

export function isOtherType(type: string | null, { type: own }: Made): boolean {
  const word = type?.toLowerCase();
  return word !== undefined && word !== own && TYPES.has(word);
}
