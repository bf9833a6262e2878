import { OwnAccount, WalletType } from '../wallets/ledger';

/** The wallet that pays a payout of each type, and the account that receives it. */
export const PAID_FROM_AND_TO = {
  airtime: { wallet: 'airtime', account: 'payouts' },
  momo: { wallet: 'momo', account: 'payouts' },
  credit: { wallet: 'chi', account: 'issued credit' },
} as const satisfies Record<string, { wallet: WalletType; account: OwnAccount }>;

export type PayoutType = keyof typeof PAID_FROM_AND_TO;
