import Decimal from 'decimal.js';
import type { ArrivedRequest, Processed } from '../../../src/sandbox/arrivals/arrived-request';
import type { Database, Work } from '../../../src/sandbox/database';
import { Payout, Payouts } from '../../../src/sandbox/payouts/carry-out';
import { newIssue, NO_RECIPIENT } from '../../../src/sandbox/transactions/issue';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { DEMO, startSandbox, TestSandbox } from '../../support/sandbox/sandbox';

const request = (seq: number): ArrivedRequest => ({
  seq: BigInt(seq),
  owner: { id: DEMO, parentId: null },
  body: {},
  fault: undefined,
});

function payout(usd: number, chiRef?: string): Payout {
  const item = { ...NO_RECIPIENT, valueInUSD: new Decimal(usd) };
  const issue = newIssue([item], { issuerId: DEMO, type: 'airtime', status: 'paid', wallet: 'airtime' });
  if (chiRef !== undefined) issue.transactions = issue.transactions.map((one) => ({ ...one, chiRef }));
  const entries = [
    { account: { accountId: DEMO, type: 'airtime' } as const, usd: issue.total.negated() },
    { account: 'payouts' as const, usd: issue.total },
  ];
  return { issue, posting: { description: `payout ${issue.issueID}`, entries } };
}

describe('a group of payouts', () => {
  let sandbox: TestSandbox;
  /** The requests of each attempt to carry out a group. */
  let attempts: bigint[][];

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());
  beforeEach(async () => {
    attempts = [];
    await sandbox.control('post', '/reset').expect(204);
  });

  const note = (_work: Work, processed: Processed[]) => {
    attempts.push(processed.map(({ request: { seq } }) => seq));
    return Promise.resolve();
  };
  /** Carries payouts out at the same time. Returns the error of each, and undefined for a success. */
  const carryOut = (payouts: Payouts, all: Payout[]) =>
    Promise.all(
      all.map((one, index) =>
        payouts.carryOut(one, request(index)).then(
          () => undefined,
          (error: Error) => error.message,
        ),
      ),
    );
  const expectStored = async (payouts: Payout[]) => {
    const stored = await sandbox.database.transaction.findMany({ orderBy: { seq: 'asc' } });
    expect(stored.map(({ issueID }) => issueID)).toEqual(payouts.map(({ issue }) => issue.issueID));
    await expectSoundLedger(sandbox.database);
  };

  it('is one database transaction, in the order of the requests', async () => {
    const all = [1, 2, 3, 4].map((usd) => payout(usd));
    const payouts = new Payouts(sandbox.database, sandbox.behaviour, note);
    expect(await carryOut(payouts, all)).toEqual([undefined, undefined, undefined, undefined]);
    expect(attempts).toEqual([[0n], [1n, 2n, 3n]]);
    await expectStored(all);
    expect(await sandbox.balance('airtime')).toBe(9_990);
  });

  it('rejects only the payouts that the money does not suffice for', async () => {
    const all = [6_000, 5_000, 3_000, 2_000, 1_000].map((usd) => payout(usd));
    const payouts = new Payouts(sandbox.database, sandbox.behaviour, note);
    const short = 'insufficient funds in the airtime wallet';
    expect(await carryOut(payouts, all)).toEqual([undefined, short, undefined, short, undefined]);
    await expectStored([0, 2, 4].map((index) => all[index]!));
    expect(await sandbox.balance('airtime')).toBe(0);
  });

  it('fails only the payout that the database rejects', async () => {
    const all = [payout(1, 'same'), payout(2), payout(3, 'same'), payout(4)];
    const payouts = new Payouts(sandbox.database, sandbox.behaviour, note);
    expect(await carryOut(payouts, all)).toEqual([
      undefined,
      undefined,
      expect.stringContaining('transactions_chi_ref_key'),
      undefined,
    ]);
    await expectStored([0, 1, 3].map((index) => all[index]!));
  });

  it('fails only the payout of a request that a reset has removed', async () => {
    const record = async (work: Work, processed: Processed[]) => {
      await note(work, processed);
      if (processed.some(({ request: { seq } }) => seq === 2n))
        throw Object.assign(new Error('removed'), { name: 'ResetMeanwhile' });
    };
    const all = [1, 2, 3, 4].map((usd) => payout(usd));
    const payouts = new Payouts(sandbox.database, sandbox.behaviour, record);
    expect(await carryOut(payouts, all)).toEqual([undefined, undefined, 'removed', undefined]);
    expect(attempts).toEqual([[0n], [1n, 2n, 3n], [1n], [2n], [3n]]);
    await expectStored([0, 1, 3].map((index) => all[index]!));
  });

  it('is not repeated if its commit fails, because it may have taken effect', async () => {
    const { database } = sandbox;
    const lost = {
      $transaction: async (work: (work: Work) => Promise<void>) => {
        await database.$transaction(work);
        throw Object.assign(new Error('connection lost'), { code: 'P2010' });
      },
    } as unknown as Database;
    const all = [1, 2, 3].map((usd) => payout(usd));
    expect(await carryOut(new Payouts(lost, sandbox.behaviour, note), all)).toEqual([
      'connection lost',
      'connection lost',
      'connection lost',
    ]);
    await expectStored(all);
    expect(await sandbox.balance('airtime')).toBe(9_994);
  });
});
