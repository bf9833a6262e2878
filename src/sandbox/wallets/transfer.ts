import Decimal from 'decimal.js';
import { Call, Routes } from '../call';
import { Refusal } from '../envelope';
import { chiRefsOf, newIssue, NOBODY, storeIssue } from '../transactions/issue';
import { Marks, readMarks } from '../transactions/marks';
import { fieldsOf, readOptionalText, readText, readUsd } from '../validation';
import { post, WALLET_TYPES, WalletType } from './ledger';

export const walletTransferRoutes = {
  'POST /wallets/transfer': transferBetweenWallets,
} satisfies Routes;

/** POST /wallets/transfer: to the wallet of the same type of any other account, by default `chi`. */
export async function transferBetweenWallets(call: Call, body: unknown) {
  const fields = fieldsOf(body);
  const receiver = readText(fields.receiver, 'receiver');
  const valueInUSD = readUsd(fields.valueInUSD, 'valueInUSD');
  const wallet = readWalletType(fields.wallet);
  const found = await call.database.account.findUnique({ where: { id: receiver } });
  if (!found) throw new Refusal(`Account with id ${receiver} not found`);
  return moveValue(call, { receiver, valueInUSD, wallet, marks: readMarks(body) });
}

interface Transfer {
  /** Returns the ID of an existing account. */
  receiver: string;
  valueInUSD: Decimal;
  wallet: WalletType;
  marks: Marks;
}

/** Transfers from the sender's wallet to the receiver's of the same type, as a transaction of type `transfer`. */
export async function moveValue(call: Call, { receiver, valueInUSD, wallet: type, marks }: Transfer) {
  const sender = call.account.id;
  if (receiver === sender) throw new Refusal('receiver must be another account than the sender');
  const terms = { issuerId: sender, type: 'transfer', status: 'paid', wallet: type, receiver, marks } as const;
  const issue = newIssue([{ ...NOBODY, valueInUSD }], terms);
  await call.database.$transaction(async (work) => {
    await storeIssue(work, issue, call.behaviour);
    await call.processed(work, chiRefsOf(issue.transactions));
    await post(work, `transfer ${issue.issueID}`, [
      { account: { accountId: sender, type }, usd: valueInUSD.negated() },
      { account: { accountId: receiver, type }, usd: valueInUSD },
    ]);
  });
  const tnxID = issue.transactions[0]?.id;
  return { data: { sender, wallet: type, valueInUSD: valueInUSD.toNumber(), tnxID, receiver }, error: 'None' };
}

export function readWalletType(value: unknown): WalletType {
  const name = readOptionalText(value, 'wallet') || 'chi';
  const type = WALLET_TYPES.find((known) => known === name);
  if (!type) throw new Refusal(`wallet must be one of ${WALLET_TYPES.join(', ')}`);
  return type;
}
