import Decimal from 'decimal.js';
import { Work } from '../database';
import { Transaction } from '../generated/client';
import { Entry, post, WalletType, OwnAccount } from '../wallets/ledger';

/** Position of a transaction's value: with its payer, with its recipient, or redeemed. */
const MONEY = ['kept', 'paid', 'redeemed'] as const;
export type Money = (typeof MONEY)[number];

/** First word of the entry that returns the value under a status. Default: `correction`. */
const ENTRY_OF_STATUS = new Map([
  ['unpaid', 'correction'],
  ['failed', 'failure'],
  ['fraud', 'failure'],
  ['expired', 'expiry'],
  ['cancelled', 'expiry'],
  ['reversed', 'reversal'],
  ['refunded', 'refund'],
]);

/** Returns the usual position of the value under a status. Undefined under an undocumented word. */
export function moneyUnder(
  word: string,
  { type, wallet }: Pick<Transaction, 'type' | 'wallet'>,
): Money | undefined {
  const status = word.toLowerCase();
  if (ENTRY_OF_STATUS.has(status)) return 'kept';
  if (status === 'paid' || status === 'successful') return 'paid';
  // A payout is debited at once. A pending payment, or a credit with a link, is not.
  if (status === 'pending') return type === 'payment' || wallet === null ? 'kept' : 'paid';
  if (status === 'redeemed' || status === 'completed') return type === 'credit' ? 'redeemed' : 'paid';
  return undefined;
}

/** Returns the description of the entry for a change to `status`. Histories find it by its second word. */
export function entryFor({ type, issueID, chiRef }: Transaction, status: string): string {
  if (type === 'payment' && status === 'paid') return `collection ${issueID}`;
  if (status === 'redeemed') return `redemption ${chiRef}`;
  return `${ENTRY_OF_STATUS.get(status.toLowerCase()) ?? 'correction'} ${chiRef}`;
}

/**
 * Moves the value of a transaction to `to`, unless it is there already. The fee is charged when the value
 * leaves the payer, and returned with it if `returnsFee`. The row must be locked.
 */
export async function moveMoney(
  work: Work,
  transaction: Transaction,
  { to, description, returnsFee }: { to: Money; description: string; returnsFee: boolean },
): Promise<void> {
  const { id, money, issuerId, valueInUSD } = transaction;
  if (money === to) return;
  const value = new Decimal(valueInUSD);
  const paid = new Decimal(transaction.feePaid);
  const owed = Decimal.max(new Decimal(transaction.fee).minus(paid), 0);
  const returned = returnsFee ? paid : new Decimal(0);
  const fee = money === 'kept' ? owed.negated() : to === 'kept' ? returned : new Decimal(0);
  await work.transaction.update({ where: { id }, data: { money: to, feePaid: paid.minus(fee) } });
  await post(work, description, [
    { account: accountOf(transaction, money as Money), usd: value.negated() },
    { account: accountOf(transaction, to), usd: value },
    { account: { accountId: issuerId, type: walletOf(transaction) }, usd: fee },
    { account: 'fees', usd: fee.negated() },
  ]);
}

/** Returns the issuer's wallet that fees are charged to. */
export function walletOf({ wallet }: Pick<Transaction, 'wallet'>): WalletType {
  return (wallet ?? 'chi') as WalletType;
}

/** Paying wallet and receiving account of each type of payout. */
export const PAYOUT_ACCOUNTS = {
  airtime: { wallet: 'airtime', account: 'payouts' },
  momo: { wallet: 'momo', account: 'payouts' },
  credit: { wallet: 'chi', account: 'issued credit' },
} as const satisfies Record<string, { wallet: WalletType; account: OwnAccount }>;

export type PayoutType = keyof typeof PAYOUT_ACCOUNTS;

/** Returns the account of the ledger that holds the value. */
function accountOf({ type, wallet, issuerId, receiver }: Transaction, money: Money): Entry['account'] {
  if (money === 'redeemed') return 'payouts';
  if (money === 'kept' && (type === 'payment' || wallet === null)) return 'outside';
  const own = { accountId: issuerId, type: (wallet ?? 'chi') as WalletType };
  if (money === 'kept' || type === 'payment') return own;
  if (type === 'transfer') return { ...own, accountId: receiver ?? '' };
  return PAYOUT_ACCOUNTS[type as PayoutType].account;
}

/** Returns the truth about a transaction's money, whatever the lists show. US dollars are decimal text. */
export function truthOf(transaction: Transaction) {
  const { status, money, wallet, type } = transaction;
  const feePaid = new Decimal(transaction.feePaid);
  const value = money === 'kept' || wallet === null ? new Decimal(0) : new Decimal(transaction.valueInUSD);
  const change = type === 'payment' ? value.minus(feePaid) : value.plus(feePaid).negated();
  return {
    status,
    money: money as Money,
    wallet: walletOf(transaction),
    feePaid: feePaid.toFixed(),
    /** Net change of the issuer's wallet. */
    walletChange: change.toFixed(),
  };
}
