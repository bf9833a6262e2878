import { randomBytes } from 'node:crypto';
import supertest from 'supertest';
import { createSandbox } from '../../src/sandbox/app';
import { Behaviour, defaultBehaviour } from '../../src/sandbox/behaviour';
import { connectDatabase, Database } from '../../src/sandbox/database';
import { createTestDatabase } from './test-database';

export const DEMO = '00000000-0000-4000-8000-000000000001';
export const SUB_ACCOUNT = '00000000-0000-4000-8000-000000000002';

/** A sandbox with a database of its own, listening. */
export interface RunningSandbox {
  url: string;
  /** Its own, to be changed while it runs. */
  behaviour: Behaviour;
  /** A connection of our own to its database. */
  database: Database;
  /** POST below /api/v0.1. */
  post(path: string, body?: object): supertest.Test;
  get(path: string): supertest.Test;
  /** GET of a page, by its link. */
  page(link: string): supertest.Test;
  /** Sends a form to a page. */
  submit(path: string, fields: Record<string, string>): supertest.Test;
  /** USD in a wallet of the demo account. */
  balance(type: string): Promise<string>;
  close(): Promise<void>;
}

export async function startSandbox(): Promise<RunningSandbox> {
  const own = await createTestDatabase();
  const behaviour = defaultBehaviour();
  const apiKey = randomBytes(16).toString('hex');
  const sandbox = await createSandbox({ databaseUrl: own.sandboxUrl, port: 0, apiKey, behaviour });
  const database = await connectDatabase(own.sandboxUrl);
  const api = supertest(`${sandbox.url}/api/v0.1`);
  const pages = supertest(sandbox.url);
  return {
    ...{ url: sandbox.url, behaviour, database },
    post: (path, body = {}) => api.post(path).set('X-API-Key', apiKey).send(body),
    get: (path) => api.get(path).set('X-API-Key', apiKey),
    page: (link) => pages.get(link.replace(sandbox.url, '')),
    submit: (path, fields) => pages.post(path).type('form').send(fields),
    balance: async (type) => {
      const wallet = await database.wallet.findUniqueOrThrow({
        where: { accountId_type: { accountId: DEMO, type } },
      });
      return wallet.balance.toFixed();
    },
    close: async () => {
      await sandbox.close();
      await database.$disconnect();
      await own.close();
    },
  };
}

/** What must be true of every ledger at every moment between two operations. */
export async function expectSoundLedger(database: Database): Promise<void> {
  const faults = await database.$queryRaw`
    SELECT 'posting that does not sum to zero' AS fault, posting_id::text AS id
      FROM ledger_entries GROUP BY posting_id HAVING sum(amount) <> 0
    UNION ALL
    SELECT 'wallet below zero', id FROM wallets WHERE balance < 0
    UNION ALL
    SELECT 'wallet that is not the sum of its entries', wallets.id
      FROM wallets LEFT JOIN ledger_entries ON wallet_id = wallets.id
      GROUP BY wallets.id HAVING balance <> coalesce(sum(amount), 0)
    UNION ALL
    SELECT 'entry that does not go on from the one before', id::text FROM (
      SELECT id, balance_before, lag(new_balance, 1, 0) OVER (PARTITION BY wallet_id ORDER BY id) AS before
      FROM ledger_entries WHERE wallet_id IS NOT NULL) AS entries
      WHERE balance_before <> before
    UNION ALL
    SELECT 'status other than the last of its history', transactions.id
      FROM transactions WHERE status <> (
        SELECT status FROM status_changes WHERE transaction_id = transactions.id ORDER BY status_changes.id DESC LIMIT 1)
    UNION ALL
    SELECT 'status taken twice', transaction_id FROM status_changes GROUP BY transaction_id, status HAVING count(*) > 1`;
  expect(faults).toEqual([]);
}
