import { Call, Routes } from '../http/call';
import { Refusal } from '../http/envelope';
import { fieldsOf, readOptionalText, readText, readUsd } from '../http/validation';
import { chiRefsOf, newIssue, NO_RECIPIENT, readMarks, storeIssues } from '../transactions/issue';
import { post, WALLET_TYPES, WalletType } from './ledger';

export const transferRoutes = {
  'POST /wallets/transfer': transferBetweenWallets,
  'POST /account/transfer': transfer,
} satisfies Routes;

/** POST /wallets/transfer: to the same wallet (default `chi`) of any other account. */
export async function transferBetweenWallets(call: Call, body: unknown) {
  return moveValue(call, body, { amount: 'valueInUSD' });
}

/**
 * POST /account/transfer: to the same wallet (default `chi`) of a sub-account. A sub-account sends to another
 * one of its parent. `amount` is optional in docs/reference/upstream.md, and required here: a default would
 * move everything.
 */
export async function transfer(call: Call, body: unknown) {
  return moveValue(call, body, { amount: 'amount', parentId: call.account.parentId ?? call.account.id });
}

/** Transfers the value in the field `amount` to a receiver, who must have the parent `parentId` if given. */
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
  const issue = newIssue([{ ...NO_RECIPIENT, valueInUSD }], terms);
  await call.database.$transaction(async (work) => {
    await storeIssues(work, [issue], call.behaviour);
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
