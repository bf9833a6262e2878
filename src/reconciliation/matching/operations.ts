/**
 * The operations whose payments are compared, by their lines in the interface document. A test holds them against the table
 * of operations, which is not ours to import.
 */

/** Value leaves a wallet, and the upstream may take a fee. */
export const PAYOUTS = ['POST /payouts/airtime', 'POST /payouts/mobile-money', 'POST /payouts/credit'] as const;

/** Value leaves a wallet for another one of the same owner. */
export const TRANSFERS = ['POST /account/transfer', 'POST /wallets/transfer'] as const;

/** Money moves when somebody pays the link: our records cannot say whether it did. */
export const LINKS = ['POST /send', 'POST /payouts/initiate-credit'] as const;

/** Money comes in, in another currency: it is matched, and counts for nothing in the sums. */
export const COLLECTIONS = [
  'POST /collections/mobile-money/collect',
  'POST /collections/mobile-money/initiate',
] as const;

export const COMPARED = [...PAYOUTS, ...TRANSFERS, ...LINKS, ...COLLECTIONS] as const;

/** Operations that change something and make no transaction that could be compared. One in doubt keeps a run from being clean. */
export const NOT_COMPARED = [
  'POST /account/delete-unpaid-transaction',
  'POST /collections/mobile-money/verify',
  'POST /redeem/airtime',
  'POST /sub-account/create',
] as const;

/** What the upstream calls money that came in. */
export const INCOMING_TYPE = 'payment';
