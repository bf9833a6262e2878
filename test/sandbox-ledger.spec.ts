import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { Urls } from '../src/platform/database/embedded/access';
import { resetData } from '../src/sandbox/seed';
import { ledgerOf } from '../src/sandbox/wallets/ledger';
import { SANDBOX_MIGRATIONS } from '../src/platform/database/migrations';
import { TestSandbox, startSandbox } from './support/sandbox';
import { expectSoundLedger } from './support/sound-ledger';
import { eventually } from './support/paying';
import { withDatabase } from './support/test-database';

const item = (valueInUSD: number, phoneNumber = '+254712345678') => ({
  countryToSend: 'Kenya',
  phoneNumber,
  valueInUSD,
});

describe("the sandbox's ledger", () => {
  let sandbox: TestSandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.close());

  const ownAccounts = async (): Promise<Record<string, string>> => {
    const { sum, accounts } = await ledgerOf(sandbox.database);
    const own = accounts.filter(({ account }) => account === 'sandbox');
    return { sum, ...Object.fromEntries(own.map(({ type, balance }) => [type, balance])) };
  };

  it('sums to zero from the start, and shows every wallet and every account of its own', async () => {
    const { sum, accounts } = await ledgerOf(sandbox.database);
    expect(sum).toBe('0');
    expect(accounts).toHaveLength(9 + 4);
    expect(await ownAccounts()).toEqual({ sum: '0', outside: '-30000', payouts: '0', 'issued credit': '0', fees: '0' });
  });

  it('moves exactly the paid amount to its account', async () => {
    await sandbox.post('/payouts/airtime', { airtimes: [item(0.1), item(0.2)] }).expect(200);
    await sandbox.post('/payouts/credit', { credits: [{ valueInUSD: 5, twitter: '@ada' }] }).expect(200);
    expect(await ownAccounts()).toMatchObject({ sum: '0', payouts: '0.3', 'issued credit': '5' });
    expect(await sandbox.balance('airtime')).toBe(9999.7);
    await expectSoundLedger(sandbox.database);
  });

  it('rejects more than a wallet holds, and changes nothing', async () => {
    const before = await ledgerOf(sandbox.database);
    const { body } = await sandbox.post('/payouts/airtime', { airtimes: [item(1), item(10_000)] }).expect(400);
    expect(body).toEqual({ status: 'error', error: 'insufficient funds in the airtime wallet' });
    expect(await ledgerOf(sandbox.database)).toEqual(before);
  });

  it('is protected by the database: postings balance, wallets stay above zero, nothing changes later', async () => {
    const { database } = sandbox;
    const unbalanced = database.$executeRaw`
      INSERT INTO ledger_entries (posting_id, own_account, amount, description, date) VALUES (-1, 'fees', 1, '', now())`;
    await expect(unbalanced).rejects.toThrow('do not sum to zero');
    await expect(database.$executeRaw`UPDATE wallets SET balance = -1`).rejects.toThrow('wallets_balance_not_negative');
    await expect(database.$executeRaw`UPDATE ledger_entries SET amount = amount`).rejects.toThrow('only added to');
    await expect(database.$executeRaw`DELETE FROM status_changes`).rejects.toThrow('only added to');
  });

  it('charges the fee with the payout, shows it on the transactions, and adds it to the issueID', async () => {
    const before = await ownAccounts();
    sandbox.behaviour.feePercent = sandbox.behaviour.feePercent.plus('1.5');
    const momo = (valueInUSD: number) => ({ ...item(valueInUSD), reference: '', momoCode: 'MPS' });
    const { body } = await sandbox.post('/payouts/mobile-money', { momos: [momo(0.00001), momo(0.1), momo(0.2)] });
    sandbox.behaviour.feePercent = sandbox.behaviour.feePercent.minus('1.5');

    expect(body.data?.credits.map(({ fee }) => fee)).toEqual([undefined, 0.0015, 0.003001]); // 0.30001 × 1.5 %, rounded up
    expect(body.data?.credits[0]?.issueID).toMatch(/_0\.304511_\d+$/);
    expect(await sandbox.balance('momo')).toBe(9999.695489);
    const after = await ownAccounts();
    expect([before.fees, after.fees, after.sum]).toEqual(['0', '0.004501', '0']);
  });

  it('resets, even during payouts', async () => {
    const payouts = Array.from({ length: 20 }, () => sandbox.post('/payouts/airtime', { airtimes: [item(1)] }));
    const answers = payouts.map((payout) => payout.then(({ status }) => status));
    await resetData(sandbox.database, 'another-key');
    // Those of before are undone by the reset; those after it meet a key that is no more, or an account that is not theirs.
    for (const status of await Promise.all(answers)) expect([200, 401, 503]).toContain(status);
    await expectSoundLedger(sandbox.database);
    await resetData(sandbox.database, 'another-key');
    expect(await ownAccounts()).toEqual({ sum: '0', outside: '-30000', payouts: '0', 'issued credit': '0', fees: '0' });
    expect(await sandbox.database.transaction.count()).toBe(0);
  });

  it('resets later, if a request and the reset wait for each other', async () => {
    const { database } = sandbox;
    const isWaiting = async () => {
      const [row] = await database.$queryRaw<{ waiting: boolean }[]>`
        SELECT EXISTS (
          SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
          WHERE datname = current_database() AND mode = 'AccessExclusiveLock' AND NOT granted
        ) AS waiting`;
      return row?.waiting === true;
    };
    const { reset } = await database.$transaction(async (work) => {
      await work.$executeRaw`UPDATE wallets SET balance = balance`;
      const reset = resetData(database, 'key'); // has `transactions`, waits for `wallets`
      await eventually(isWaiting);
      expect(await work.transaction.count()).toBe(0); // waits for `transactions`: one of the two has to give way
      return { reset };
    });
    await reset;
    await expectSoundLedger(database);
  });
});

describe('a ledger from before double entry', () => {
  const name = `sandbox_${randomBytes(6).toString('hex')}`;
  const url = withDatabase((JSON.parse(process.env.TEST_POSTGRES ?? '') as Urls).owner, 'postgres');
  const migration = (directory: string) => readFileSync(join(SANDBOX_MIGRATIONS, directory, 'migration.sql'), 'utf8');
  let admin: Client;
  let database: Client;

  beforeAll(async () => {
    admin = new Client({ connectionString: url });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name}`);
    database = new Client({ connectionString: withDatabase(url, name) });
    await database.connect();
  });
  afterAll(async () => {
    await database.end();
    await admin.query(`DROP DATABASE ${name}`);
    await admin.end();
  });

  it('gets its other sides', async () => {
    await database.query(migration('20261120000000_init'));
    await database.query(`
      INSERT INTO accounts (id, name) VALUES ('a', 'A'), ('b', 'B');
      INSERT INTO wallets VALUES ('wa', 'a', 'chi', 60), ('wb', 'b', 'chi', 25);
      INSERT INTO transactions (id, chi_ref, issue_id, issue_date, issuer_id, type, status, value_in_usd) VALUES
        ('t1', 'r1', 'a_10_1', now(), 'a', 'credit', 'paid', 10), ('t2', 'r2', 'a_5_2', now(), 'a', 'airtime', 'paid', 5),
        ('t3', 'r3', 'a_25_3', now(), 'a', 'transfer', 'paid', 25);
      INSERT INTO wallet_entries (wallet_id, amount, balance_before, new_balance, description, date) VALUES
        ('wa', 100, 0, 100, 'opening balance', now()), ('wa', -10, 100, 90, 'payout a_10_1', now()),
        ('wa', -5, 90, 85, 'payout a_5_2', now()), ('wa', -25, 85, 60, 'transfer a_25_3', now()),
        ('wb', 25, 0, 25, 'transfer a_25_3', now());`);
    await database.query(migration('20261121000000_ledger'));

    const own = await database.query(`SELECT own_account, sum(amount)::int AS balance FROM ledger_entries
      WHERE own_account IS NOT NULL GROUP BY own_account ORDER BY own_account`);
    expect(own.rows).toEqual([
      { own_account: 'issued credit', balance: 10 },
      { own_account: 'outside', balance: -100 },
      { own_account: 'payouts', balance: 5 },
    ]);
    const postings = await database.query(`SELECT count(*)::int AS entries, sum(amount)::int AS sum FROM ledger_entries
      GROUP BY posting_id ORDER BY posting_id`);
    expect(postings.rows).toEqual(Array(4).fill({ entries: 2, sum: 0 }));
    const { rows } = await database.query('SELECT transaction_id, status FROM status_changes ORDER BY id');
    expect(rows.map(({ transaction_id, status }) => `${transaction_id} ${status}`)).toEqual([
      't1 paid',
      't2 paid',
      't3 paid',
    ]);
    const next = await database.query(
      `SELECT nextval('ledger_postings')::int > max(posting_id)::int AS new FROM ledger_entries`,
    );
    expect(next.rows).toEqual([{ new: true }]);
  });
});
