import { OwnAccount, WalletType } from '../wallets/ledger';

/** The wallet that a payout of each type is paid from, and the account it is paid to. */
export const PAID_FROM_AND_TO = {
  airtime: { wallet: 'airtime', account: 'payouts' },
  momo: { wallet: 'momo', account: 'payouts' },
  credit: { wallet: 'chi', account: 'issued credit' },
} as const satisfies Record<string, { wallet: WalletType; account: OwnAccount }>;

export type PayoutType = keyof typeof PAID_FROM_AND_TO;
