import { Call } from '../../../../src/sandbox/http/call';
import { payOut, readCreditItems } from '../../../../src/sandbox/payouts/payouts';
import { transactionRecord } from '../../../../src/sandbox/transactions/record';

/** POST /payouts/gift-card: paid from the `chi` wallet. */
export async function payOutGiftCards(call: Call, body: unknown): Promise<object> {
  const { transactions } = await payOut(call, readCreditItems(body, 'giftCards'), 'credit');
  return {
    data: transactions.map((transaction) => transactionRecord(transaction, call.origin)),
    error: 'None',
  };
}
