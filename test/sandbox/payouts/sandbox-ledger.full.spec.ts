import { resetData } from '../../../src/sandbox/behaviour/seed';
import { ledgerOf } from '../../../src/sandbox/wallets/ledger';
import { eventually } from '../../support/payments/paying';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { TestSandbox, startSandbox } from '../../support/sandbox/sandbox';

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

  it('sums to zero from the start, and shows every account', async () => {
    const { sum, accounts } = await ledgerOf(sandbox.database);
    expect(sum).toBe('0');
    expect(accounts).toHaveLength(9 + 4);
    expect(await ownAccounts()).toEqual({
      sum: '0',
      outside: '-30000',
      payouts: '0',
      'issued credit': '0',
      fees: '0',
    });
  });

  it('credits exactly the paid amount to its account', async () => {
    await sandbox.post('/payouts/airtime', { airtimes: [item(0.1), item(0.2)] }).expect(200);
    await sandbox.post('/payouts/credit', { credits: [{ valueInUSD: 5, twitter: '@ada' }] }).expect(200);
    expect(await ownAccounts()).toMatchObject({ sum: '0', payouts: '0.3', 'issued credit': '5' });
    expect(await sandbox.balance('airtime')).toBe(9999.7);
    await expectSoundLedger(sandbox.database);
  });

  it('rejects amounts above the balance, and changes nothing', async () => {
    const before = await ledgerOf(sandbox.database);
    const { body } = await sandbox
      .post('/payouts/airtime', { airtimes: [item(1), item(10_000)] })
      .expect(400);
    expect(body).toEqual({ status: 'error', error: 'insufficient funds in the airtime wallet' });
    expect(await ledgerOf(sandbox.database)).toEqual(before);
  });

  it('rejects unbalanced, overdrawn and changed entries in the database', async () => {
    const { database } = sandbox;
    const unbalanced = database.$executeRaw`
      INSERT INTO ledger_entries (posting_id, own_account, amount, description, date)
        VALUES (-1, 'fees', 1, '', now())`;
    await expect(unbalanced).rejects.toThrow('do not sum to zero');
    await expect(database.$executeRaw`UPDATE wallets SET balance = -1`).rejects.toThrow(
      'wallets_balance_not_negative',
    );
    await expect(database.$executeRaw`UPDATE ledger_entries SET amount = amount`).rejects.toThrow(
      'only added to',
    );
    await expect(database.$executeRaw`DELETE FROM status_changes`).rejects.toThrow('only added to');
  });

  it('charges the fee with the payout, and shows it in transactions and issueID', async () => {
    const before = await ownAccounts();
    sandbox.behaviour.feePercent = sandbox.behaviour.feePercent.plus('1.5');
    const momo = (valueInUSD: number) => ({ ...item(valueInUSD), reference: '', momoCode: 'MPS' });
    const { body } = await sandbox.post('/payouts/mobile-money', {
      momos: [momo(0.00001), momo(0.1), momo(0.2)],
    });
    sandbox.behaviour.feePercent = sandbox.behaviour.feePercent.minus('1.5');

    // 0.30001 × 1.5 %, rounded up
    expect(body.data?.credits.map(({ fee }) => fee)).toEqual([undefined, 0.0015, 0.003001]);
    expect(body.data?.credits[0]?.issueID).toMatch(/_0\.304511_\d+$/);
    expect(await sandbox.balance('momo')).toBe(9999.695489);
    const after = await ownAccounts();
    expect([before.fees, after.fees, after.sum]).toEqual(['0', '0.004501', '0']);
  });

  it('resets, even during payouts', async () => {
    const payouts = Array.from({ length: 20 }, () =>
      sandbox.post('/payouts/airtime', { airtimes: [item(1)] }),
    );
    const answers = payouts.map((payout) => payout.then(({ status }) => status));
    await resetData(sandbox.database, 'another-key');
    // The reset undoes earlier ones. Later ones meet a deleted key, or an account of another owner.
    for (const status of await Promise.all(answers)) expect([200, 401, 503]).toContain(status);
    await expectSoundLedger(sandbox.database);
    await resetData(sandbox.database, 'another-key');
    expect(await ownAccounts()).toEqual({
      sum: '0',
      outside: '-30000',
      payouts: '0',
      'issued credit': '0',
      fees: '0',
    });
    expect(await sandbox.database.transaction.count()).toBe(0);
  });

  it('repeats a reset after a deadlock with a request', async () => {
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
      const reset = resetData(database, 'key'); // locks `transactions`, waits for `wallets`
      await eventually(isWaiting);
      expect(await work.transaction.count()).toBe(0); // waits for `transactions`: a deadlock
      return { reset };
    });
    await reset;
    await expectSoundLedger(database);
  });
});
