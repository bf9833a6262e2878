import Decimal from 'decimal.js';
import { hashKey } from '../account/authentication';
import { Database, Work } from '../database';
import { openWallets } from '../wallets/ledger';

/** Fixed, so that examples and tests can name them. */
const DEMO_ACCOUNT = { id: '00000000-0000-4000-8000-000000000001', name: 'Demo account' };
const SUB_ACCOUNTS = [
  { id: '00000000-0000-4000-8000-000000000002', name: 'Field office North', parentId: DEMO_ACCOUNT.id },
  { id: '00000000-0000-4000-8000-000000000003', name: 'Field office South', parentId: DEMO_ACCOUNT.id },
];
const OPENING_BALANCE_USD = new Decimal(10_000); // In each wallet.

/** Creates the demo data at the first start, and sets the demo account's key at every start. */
export async function seed(database: Database, apiKey: string): Promise<void> {
  await database.$transaction((work) => makeDemoData(work, apiKey));
}

/** Lock timeout of a reset, in ms. Below Postgres' deadlock timeout (1 s). */
const TABLE_WAIT_MS = 300;
const ATTEMPTS = 50;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Resets the data to the state of a first start, with this key. The IDs of histories continue. Requests in
 * flight finish before it or fail after it. If it deadlocks with a request, it yields and tries again.
 */
export async function resetData(database: Database, apiKey: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.$transaction(async (work) => {
        await work.$executeRawUnsafe(`SET LOCAL lock_timeout = ${TABLE_WAIT_MS}`);
        await work.$executeRaw`
          TRUNCATE due_changes, transactions, status_changes, wallets, ledger_entries, accounts CASCADE`;
        await makeDemoData(work, apiKey);
      });
    } catch (error) {
      if (attempt === ATTEMPTS || !String(error).includes(LOCK_NOT_AVAILABLE)) throw error;
    }
  }
}

async function makeDemoData(work: Work, apiKey: string): Promise<void> {
  const { count: created } = await work.account.createMany({ data: [DEMO_ACCOUNT], skipDuplicates: true });
  if (created > 0) {
    await work.account.createMany({ data: SUB_ACCOUNTS });
    for (const { id } of SUB_ACCOUNTS) await openWallets(work, id, new Decimal(0));
    await openWallets(work, DEMO_ACCOUNT.id, OPENING_BALANCE_USD);
  }
  await work.account.update({ where: { id: DEMO_ACCOUNT.id }, data: { apiKeyHash: hashKey(apiKey) } });
}
