import { Call, Routes } from '../call';
import { Refusal } from '../envelope';
import { readMarks } from '../transactions/marks';
import { fieldsOf, readText, readUsd } from '../validation';
import { moveValue, readWalletType } from '../wallets/transfer';

export const transferRoutes = {
  'POST /account/transfer': transfer,
} satisfies Routes;

/**
 * POST /account/transfer: moves an amount from a wallet to the sub-account's wallet of the same type, by default `chi`.
 * A sub-account sends to another sub-account of its parent.
 * docs/reference/upstream.md marks `amount` as optional. It is required here, because the alternative would be to guess
 * and move everything.
 */
export async function transfer(call: Call, body: unknown) {
  const fields = fieldsOf(body);
  const receiver = readText(fields.receiver, 'receiver');
  const valueInUSD = readUsd(fields.amount, 'amount');
  const wallet = readWalletType(fields.wallet);
  const parentId = call.account.parentId ?? call.account.id;
  const found = await call.database.account.findUnique({ where: { id: receiver, parentId } });
  if (!found) throw new Refusal(`Account with id ${receiver} not found`);
  return moveValue(call, { receiver, valueInUSD, wallet, marks: readMarks(body) });
}
