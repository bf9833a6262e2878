import Decimal from 'decimal.js';
import { Work } from '../database';
import { NewTransaction } from '../transactions/issue';
import { post } from '../wallets/ledger';

/** Credits the `momo` wallet of the collecting account with money from outside. */
export async function receivePayment(
  work: Work,
  { issueID, issuerId, valueInUSD }: Pick<NewTransaction, 'issueID' | 'issuerId' | 'valueInUSD'>,
): Promise<void> {
  await post(work, `collection ${issueID}`, [
    { account: 'outside', usd: new Decimal(valueInUSD).negated() },
    { account: { accountId: issuerId, type: 'momo' }, usd: new Decimal(valueInUSD) },
  ]);
}
