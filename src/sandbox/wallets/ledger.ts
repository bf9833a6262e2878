import { randomUUID } from 'node:crypto';
import Decimal from 'decimal.js';
import { Work } from '../database';
import { Refusal } from '../envelope';

export const WALLET_TYPES = ['chi', 'momo', 'airtime'] as const;
export type WalletType = (typeof WALLET_TYPES)[number];

interface WalletName {
  accountId: string;
  type: WalletType;
}

/** Takes `usd` out of a wallet, or refuses and changes nothing. */
export async function debit(work: Work, wallet: WalletName, usd: Decimal, description: string): Promise<void> {
  if (!(await change(work, wallet, usd.negated(), description)))
    throw new Refusal(`insufficient funds in the ${wallet.type} wallet`);
}

export async function credit(work: Work, wallet: WalletName, usd: Decimal, description: string): Promise<void> {
  if (!(await change(work, wallet, usd, description))) throw new Error('there is no such wallet'); // or value would vanish
}

/** Makes the wallets of an account that has none yet. */
export async function openWallets(work: Work, accountId: string, opening: Decimal): Promise<void> {
  await work.wallet.createMany({
    data: WALLET_TYPES.map((type) => ({ id: randomUUID(), accountId, type, balance: 0 })),
  });
  if (opening.isZero()) return;
  for (const type of WALLET_TYPES) await credit(work, { accountId, type }, opening, 'opening balance');
}

/**
 * The only writer of balances. One statement tests, locks and changes the row and writes the entry: what waited for the lock
 * is tested against the new balance, and the row stays locked until `work` commits. False when the balance would fall below zero.
 */
async function change(work: Work, wallet: WalletName, usd: Decimal, description: string): Promise<boolean> {
  const amount = usd.toFixed();
  const entries = await work.$executeRaw`
    WITH changed AS (
      UPDATE wallets SET balance = balance + ${amount}::numeric
      WHERE account_id = ${wallet.accountId} AND type = ${wallet.type} AND balance + ${amount}::numeric >= 0
      RETURNING id, balance
    )
    INSERT INTO wallet_entries (wallet_id, amount, balance_before, new_balance, description, date)
    SELECT id, ${amount}::numeric, balance - ${amount}::numeric, balance, ${description}, clock_timestamp() FROM changed`;
  return entries === 1;
}
