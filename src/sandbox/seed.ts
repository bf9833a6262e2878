import Decimal from 'decimal.js';
import { hashKey } from './account/authentication';
import { Database } from './database';
import { openWallets } from './wallets/ledger';

/** Fixed, so that examples and tests can name them. */
const DEMO_ACCOUNT = { id: '00000000-0000-4000-8000-000000000001', name: 'Demo account' };
const SUB_ACCOUNTS = [
  { id: '00000000-0000-4000-8000-000000000002', name: 'Field office North', parentId: DEMO_ACCOUNT.id },
  { id: '00000000-0000-4000-8000-000000000003', name: 'Field office South', parentId: DEMO_ACCOUNT.id },
];
const OPENING_BALANCE_USD = new Decimal(10_000); // of each wallet

/** Makes the demo data at the first start only; makes the key the demo account's at every start. */
export async function seed(database: Database, apiKey: string): Promise<void> {
  await database.$transaction(async (work) => {
    const { count: created } = await work.account.createMany({ data: [DEMO_ACCOUNT], skipDuplicates: true });
    if (created > 0) {
      await work.account.createMany({ data: SUB_ACCOUNTS });
      for (const { id } of SUB_ACCOUNTS) await openWallets(work, id, new Decimal(0));
      await openWallets(work, DEMO_ACCOUNT.id, OPENING_BALANCE_USD);
    }
    await work.account.update({ where: { id: DEMO_ACCOUNT.id }, data: { apiKeyHash: hashKey(apiKey) } });
  });
}
