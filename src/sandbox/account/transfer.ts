import { Refusal } from '../envelope';
import { Call } from '../call';
import { newIssue, NOBODY } from '../transactions/issue';
import { fieldsOf, readOptionalText, readText, readUsd } from '../validation';
import { credit, debit, WALLET_TYPES, WalletType } from '../wallets/ledger';

/**
 * POST /account/transfer: moves an amount from a wallet to the sub-account's wallet of the same type, `chi` by default.
 * `amount`, marked optional by interface.md, is required here: the alternative would be to guess, and to move everything.
 */
export async function transfer({ account, database }: Call, body: unknown): Promise<object> {
  const fields = fieldsOf(body);
  const receiver = readText(fields.receiver, 'receiver');
  const valueInUSD = readUsd(fields.amount, 'amount');
  const wallet = readWalletType(fields.wallet);
  const terms = { issuerId: account.id, type: 'transfer', status: 'paid', receiver } as const;
  const { issueID, transactions } = newIssue([{ ...NOBODY, valueInUSD }], terms);

  await database.$transaction(async (work) => {
    const found = await work.account.findUnique({ where: { id: receiver, parentId: account.id } });
    if (!found) throw new Refusal(`Account with id ${receiver} not found`);
    await work.transaction.createMany({ data: transactions });
    // Always the parent's wallet before the sub-account's: transfers that cross cannot lock each other out.
    await debit(work, { accountId: account.id, type: wallet }, valueInUSD, `transfer ${issueID}`);
    await credit(work, { accountId: receiver, type: wallet }, valueInUSD, `transfer ${issueID}`);
  });

  const tnxID = transactions[0]?.id;
  return { data: { sender: account.id, wallet, valueInUSD: valueInUSD.toNumber(), tnxID, receiver }, error: 'None' };
}

function readWalletType(value: unknown): WalletType {
  const name = readOptionalText(value, 'wallet') || 'chi';
  const type = WALLET_TYPES.find((known) => known === name);
  if (!type) throw new Refusal(`wallet must be one of ${WALLET_TYPES.join(', ')}`);
  return type;
}
