import { Call, Routes } from '../http/call';
import { Refusal } from '../http/envelope';
import { fieldsOf, readOptionalText, readText, readUsd } from '../http/validation';
import { chiRefsOf, newIssue, NOBODY, readMarks, storeIssue } from '../transactions/issue';
import { post, WALLET_TYPES, WalletType } from './ledger';

export const transferRoutes = {
  'POST /wallets/transfer': transferBetweenWallets,
  'POST /account/transfer': transfer,
} satisfies Routes;

/** POST /wallets/transfer: to the wallet of the same type of any other account, by default `chi`. */
export async function transferBetweenWallets(call: Call, body: unknown) {
  return moveValue(call, body, { amount: 'valueInUSD' });
}

/**
 * POST /account/transfer: moves an amount from a wallet to the sub-account's wallet of the same type, by
 * default `chi`. A sub-account sends to another sub-account of its parent.
 * docs/reference/upstream.md marks `amount` as optional. It is required here, because the alternative would
 * be to guess and move everything.
 */
export async function transfer(call: Call, body: unknown) {
  return moveValue(call, body, { amount: 'amount', parentId: call.account.parentId ?? call.account.id });
}

/**
 * Transfers from the sender's wallet to the receiver's of the same type, as a transaction of type `transfer`.
 * @param to the name of the field with the amount, and the parent that the receiver must have.
 */
async function moveValue(
  call: Call,
  body: unknown,
  { amount, ...to }: { amount: string; parentId?: string },
) {
  const fields = fieldsOf(body);
  const receiver = readText(fields.receiver, 'receiver');
  const valueInUSD = readUsd(fields[amount], amount);
  const type = readWalletType(fields.wallet);
  const found = await call.database.account.findUnique({ where: { id: receiver, ...to } });
  if (!found) throw new Refusal(`Account with id ${receiver} not found`);
  const marks = readMarks(body);
  const sender = call.account.id;
  if (receiver === sender) throw new Refusal('receiver must be another account than the sender');
  const terms = {
    issuerId: sender,
    type: 'transfer',
    status: 'paid',
    wallet: type,
    receiver,
    marks,
  } as const;
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
  return {
    data: { sender, wallet: type, valueInUSD: valueInUSD.toNumber(), tnxID, receiver },
    error: 'None',
  };
}

function readWalletType(value: unknown): WalletType {
  const name = readOptionalText(value, 'wallet') || 'chi';
  const type = WALLET_TYPES.find((known) => known === name);
  if (!type) throw new Refusal(`wallet must be one of ${WALLET_TYPES.join(', ')}`);
  return type;
}
