import Decimal from 'decimal.js';
import { Work } from '../database';
import { Transaction } from '../generated/client';
import { Entry, post, WalletType, OwnAccount } from '../wallets/ledger';

/** Where the value of a transaction is: still with its payer, with its recipient, or redeemed. */
const MONEY = ['kept', 'paid', 'redeemed'] as const;
export type Money = (typeof MONEY)[number];

/** The word of the entry that moves money under a status. Others: `correction`. */
const ENTRY_OF_STATUS = new Map([
  ['unpaid', 'correction'],
  ['failed', 'failure'],
  ['fraud', 'failure'],
  ['expired', 'expiry'],
  ['cancelled', 'expiry'],
  ['reversed', 'reversal'],
  ['refunded', 'refund'],
]);

/**
 * Returns where an honest service keeps the value under a status. Undefined under a word that nobody has
 * documented. The money then stays where it is.
 */
export function moneyUnder(
  word: string,
  { type, wallet }: Pick<Transaction, 'type' | 'wallet'>,
): Money | undefined {
  const status = word.toLowerCase();
  if (ENTRY_OF_STATUS.has(status)) return 'kept';
  if (status === 'paid' || status === 'successful') return 'paid';
  // A payout is debited at once. A payment, or a credit with a link, has not been paid yet.
  if (status === 'pending') return type === 'payment' || wallet === null ? 'kept' : 'paid';
  if (status === 'redeemed' || status === 'completed') return type === 'credit' ? 'redeemed' : 'paid';
  return undefined;
}

/** Describes the entry of a change to `status`. Its second word is what histories find it by. */
export function entryFor({ type, issueID, chiRef }: Transaction, status: string): string {
  if (type === 'payment' && status === 'paid') return `collection ${issueID}`;
  if (status === 'redeemed') return `redemption ${chiRef}`;
  return `${ENTRY_OF_STATUS.get(status.toLowerCase()) ?? 'correction'} ${chiRef}`;
}

/**
 * Moves the value of a transaction, and its fee. The fee is charged when the value leaves its payer. It comes
 * back with the value if `returnsFee`. Nothing happens if the value is there already. Its row must be locked.
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

/** The wallet of the issuer that fees are charged to. */
export function walletOf({ wallet }: Pick<Transaction, 'wallet'>): WalletType {
  return (wallet ?? 'chi') as WalletType;
}

/** The wallet that pays a payout of each type, and the account that receives it. */
export const PAID_FROM_AND_TO = {
  airtime: { wallet: 'airtime', account: 'payouts' },
  momo: { wallet: 'momo', account: 'payouts' },
  credit: { wallet: 'chi', account: 'issued credit' },
} as const satisfies Record<string, { wallet: WalletType; account: OwnAccount }>;

export type PayoutType = keyof typeof PAID_FROM_AND_TO;

/** Returns the account of the ledger that has the value. */
function accountOf({ type, wallet, issuerId, receiver }: Transaction, money: Money): Entry['account'] {
  if (money === 'redeemed') return 'payouts';
  if (money === 'kept' && (type === 'payment' || wallet === null)) return 'outside';
  const own = { accountId: issuerId, type: (wallet ?? 'chi') as WalletType };
  if (money === 'kept' || type === 'payment') return own;
  if (type === 'transfer') return { ...own, accountId: receiver ?? '' };
  return PAID_FROM_AND_TO[type as PayoutType].account;
}

/**
 * The truth about a transaction's money, whatever its status and the lists say. US dollars are decimal text.
 */
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
    /** The sum of what its issuer's wallet gave for it and received. */
    walletChange: change.toFixed(),
  };
}
