import { Call } from '../call';
import { Issue } from '../transactions/issue';
import { debit, WalletType } from '../wallets/ledger';

/** Stores the batch and takes its total from the wallet, together or not at all. */
export async function pay({ account, database }: Call, issue: Issue, type: WalletType): Promise<void> {
  await database.$transaction(async (work) => {
    await work.transaction.createMany({ data: issue.transactions });
    // Last, so that the wallet's row is locked as briefly as possible.
    await debit(work, { accountId: account.id, type }, issue.total, `payout ${issue.issueID}`);
  });
}
