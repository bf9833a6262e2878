import { deleteUnpaidTransaction, readTransaction } from '../../../src/sandbox/account/transactions';
import type { ArrivedRequest, Processed } from '../../../src/sandbox/arrivals/arrived-request';
import { collect, initiateCollection, verifyCollection } from '../../../src/sandbox/collections/collections';
import type { Work } from '../../../src/sandbox/database';
import { Call, Operation } from '../../../src/sandbox/http/call';
import { Payouts } from '../../../src/sandbox/payouts/carry-out';
import {
  payOutAirtime,
  payOutMobileMoney,
  initiateCredit,
  payOutCredit,
  send,
} from '../../../src/sandbox/payouts/payouts';
import { redeemAirtime } from '../../../src/sandbox/redeem/redeem';
import { createSubAccount } from '../../../src/sandbox/sub-accounts/sub-accounts';
import { ledgerOf } from '../../../src/sandbox/wallets/ledger';
import { transfer, transferBetweenWallets } from '../../../src/sandbox/wallets/transfer';
import { first } from '../../support/examples/first';
import { DEMO, SUB_ACCOUNT, TestSandbox, startSandbox } from '../../support/sandbox/sandbox';

const PHONE = { countryToSend: 'Kenya', phoneNumber: '+254712345678' };
const CREDITS = { credits: [{ valueInUSD: 1, email: 'ada@example.org' }] };
const COLLECTION = {
  amount: 500,
  currency: 'KES',
  phone_number: PHONE.phoneNumber,
  fullname: 'Ada',
  country: 'Kenya',
  email: 'ada@example.org',
  tx_ref: 'a',
};

const REQUEST: ArrivedRequest = { seq: 1n, owner: { id: DEMO, parentId: null }, body: {}, fault: undefined };

/** The transaction of an operation also records its request in the ground truth. */
describe('the recorded result of an operation', () => {
  let sandbox: TestSandbox;
  let noted: string[][];

  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  beforeEach(() => {
    noted = [];
  });
  afterAll(() => sandbox.close());

  const call = async (processed: Call['processed']): Promise<Call> => ({
    account: await sandbox.database.account.findUniqueOrThrow({ where: { id: DEMO } }),
    database: sandbox.database,
    origin: sandbox.url,
    behaviour: sandbox.behaviour,
    processed,
    payOut: (payout) => {
      const record = (work: Work, [only]: Processed[]) => processed(work, only?.chiRefs ?? []);
      return new Payouts(sandbox.database, sandbox.behaviour, record).carryOut(payout, REQUEST);
    },
  });
  const note: Call['processed'] = (_work, chiRefs) => {
    noted.push(chiRefs);
    return Promise.resolve();
  };
  const issued = async (path: '/payouts/credit' | '/payouts/initiate-credit') =>
    first((await sandbox.post(path, CREDITS).expect(200)).body.data.data).chiRef;
  const pending = async () =>
    (await sandbox.post('/collections/mobile-money/initiate', COLLECTION).expect(200)).body.data;
  const everything = async () => ({
    ledger: await ledgerOf(sandbox.database),
    accounts: await sandbox.database.account.count(),
    transactions: await sandbox.database.transaction.findMany({ orderBy: { seq: 'asc' } }),
  });

  const OPERATIONS: [string, Operation, () => object | Promise<object>][] = [
    ['send', send, () => ({ credit: CREDITS.credits })],
    ['airtime', payOutAirtime, () => ({ airtimes: [{ ...PHONE, valueInUSD: 1 }] })],
    [
      'mobile money',
      payOutMobileMoney,
      () => ({ momos: [{ ...PHONE, valueInUSD: 1, reference: '', momoCode: 'MPS' }] }),
    ],
    ['credit', payOutCredit, () => CREDITS],
    ['initiate credit', initiateCredit, () => CREDITS],
    ['transfer', transfer, () => ({ receiver: SUB_ACCOUNT, amount: 1 })],
    ['wallet transfer', transferBetweenWallets, () => ({ receiver: SUB_ACCOUNT, valueInUSD: 1 })],
    ['collect', collect, () => COLLECTION],
    ['initiate collection', initiateCollection, () => COLLECTION],
    ['verify', verifyCollection, async () => ({ id: (await pending()).id })],
    ['delete', deleteUnpaidTransaction, async () => ({ chiRef: await issued('/payouts/initiate-credit') })],
    ['redeem', redeemAirtime, async () => ({ chiRef: await issued('/payouts/credit'), ...PHONE })],
    ['sub-account', createSubAccount, () => ({ name: 'A', email: 'a@example.org' })],
  ];

  it.each(OPERATIONS)(
    'names the created or changed transactions once: %s',
    async (_name, operation, input) => {
      const body = await input();
      const before = new Map((await everything()).transactions.map(({ chiRef, status }) => [chiRef, status]));
      await operation(await call(note), body);
      const changed = (await everything()).transactions.filter(
        ({ chiRef, status }) => before.get(chiRef) !== status,
      );
      expect(noted).toEqual([changed.map(({ chiRef }) => chiRef)]);
    },
  );

  it.each(OPERATIONS)('undoes the operation if recording fails: %s', async (_name, operation, input) => {
    const body = await input();
    const before = await everything();
    const failing = await call(() => Promise.reject(new Error('the note failed')));
    await expect(operation(failing, body)).rejects.toThrow('the note failed');
    expect(await everything()).toEqual(before);
  });

  it('is optional for reads', async () => {
    await readTransaction(await call(note), { id: 'none' });
    expect(noted).toEqual([]);
  });
});
