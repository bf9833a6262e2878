import Decimal from 'decimal.js';
import * as fc from 'fast-check';
import { applyDueChanges } from '../../../src/sandbox/behaviour/sweeper';
import { expireOverdue } from '../../../src/sandbox/transactions/status';
import { ledgerOf, post } from '../../../src/sandbox/wallets/ledger';
import { runs } from '../../support/examples/runs';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { DEMO, SUB_ACCOUNT, TestSandbox, startSandbox } from '../../support/sandbox/sandbox';

/** Steps that may run concurrently. `of` selects one of the existing transactions. */
type Step =
  | { kind: 'airtime' | 'credit' | 'send' | 'transfer'; usd: number; items: number; magic: number }
  | { kind: 'pay' | 'delete' | 'redeem' | 'redeem on the page' | 'verify'; of: number }
  | { kind: 'collect' | 'expire' | 'sweep' | 'list' };

const DIGITS = ['12345678', '99990101', '99990102', '99990104']; // normal, reversed, late, failed
const HANDLES = ['@ada', '@sandbox_reversed', '@sandbox_late', '@sandbox_fraud'];
const COLLECTION = {
  amount: 500,
  currency: 'KES',
  phone_number: '+254712345678',
  fullname: 'Ada',
  country: 'Kenya',
  email: 'ada@example.org',
  tx_ref: 'a',
};

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('airtime', 'credit', 'send', 'transfer'),
    usd: fc.constantFrom(0.1, 0.000001, 33.33, 3_333), // four of the last empty a wallet
    items: fc.integer({ min: 1, max: 4 }),
    magic: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({
    kind: fc.constantFrom('pay', 'delete', 'redeem', 'redeem on the page', 'verify'),
    of: fc.nat(7),
  }),
  fc.record({ kind: fc.constantFrom('collect', 'expire', 'sweep', 'list') }),
);

describe('concurrent operations', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
    sandbox.behaviour.feePercent = sandbox.behaviour.feePercent.plus('1.1');
  });
  afterAll(() => sandbox.close());

  async function take(step: Step): Promise<number> {
    switch (step.kind) {
      case 'airtime': {
        const one = {
          countryToSend: 'Kenya',
          phoneNumber: `+2547${DIGITS[step.magic]}`,
          valueInUSD: step.usd,
        };
        return (await sandbox.post('/payouts/airtime', { airtimes: Array(step.items).fill(one) })).status;
      }
      case 'credit':
      case 'send': {
        const list = Array(step.items).fill({ twitter: HANDLES[step.magic], valueInUSD: step.usd });
        if (step.kind === 'credit') return (await sandbox.post('/payouts/credit', { credits: list })).status;
        return (await sandbox.post('/send', { credit: list })).status;
      }
      case 'transfer': {
        const transfer = { receiver: SUB_ACCOUNT, valueInUSD: step.usd };
        return (await sandbox.post('/wallets/transfer', transfer)).status;
      }
      case 'collect':
        return (await sandbox.post('/collections/mobile-money/initiate', COLLECTION)).status;
      case 'expire':
        await expireOverdue(sandbox.database, { ...sandbox.behaviour, unpaidExpiresAfterMs: -60_000 });
        return 200;
      case 'sweep':
        await applyDueChanges(sandbox.database, sandbox.behaviour, new Date(Date.now() + 60_000));
        return 200;
      case 'list':
        return (await sandbox.post('/account/transactions')).status;
      case 'pay':
      case 'delete':
      case 'redeem':
      case 'redeem on the page':
      case 'verify':
        return takeOf(step.kind, step.of);
    }
  }

  /** Selects one of the newest transactions, so that several steps compete for it. */
  async function takeOf(kind: string, of: number): Promise<number> {
    const type = kind === 'verify' ? 'payment' : 'credit';
    const [one] = await sandbox.database.transaction.findMany({
      where: { type },
      orderBy: { seq: 'desc' },
      skip: of,
      take: 1,
    });
    if (!one) return 200;
    const { id, chiRef, issueID } = one;
    if (kind === 'pay') return (await sandbox.submit('/pay', { issueID })).status;
    if (kind === 'delete')
      return (await sandbox.post('/account/delete-unpaid-transaction', { chiRef })).status;
    if (kind === 'verify') return (await sandbox.post('/collections/mobile-money/verify', { id })).status;
    if (kind === 'redeem on the page')
      return (await sandbox.submit('/redeem', { chiRef, type: 'other', code: 'solar' })).status;
    const airtime = { chiRef, phoneNumber: '+254712345678', countryToSend: 'Kenya' };
    return (await sandbox.post('/redeem/airtime', airtime)).status;
  }

  /** Expects the recipients' credits to equal the issued ones: each collected, paid or redeemed once. */
  async function expectMoneyToFollowStatuses(): Promise<void> {
    const { sum, accounts } = await ledgerOf(sandbox.database);
    expect(sum).toBe('0');
    const own = (name: string) => accounts.find(({ type }) => type === name)?.balance;
    const [expected] = await sandbox.database.$queryRaw<Record<string, string>[]>`
      SELECT trim_scale(coalesce(sum(value_in_usd) FILTER (WHERE type = 'credit'
        AND status IN ('paid', 'pending')), 0))::text AS issued,
             trim_scale(coalesce(sum(value_in_usd) FILTER (WHERE type = 'credit' AND status = 'redeemed'
               OR type = 'airtime' AND status IN ('paid', 'pending')), 0))::text AS paid_out,
             trim_scale(coalesce(sum(fee) FILTER (WHERE status IN ('paid', 'pending', 'redeemed')),
               0))::text AS fees
      FROM transactions`;
    expect({ issued: own('issued credit'), paid_out: own('payouts'), fees: own('fees') }).toEqual(expected);
  }

  it('keep the ledger balanced, and pay, redeem and collect each transaction once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
        const statuses = await Promise.all(steps.map(take));
        // No step causes the 500 of POST /send. 503 means a deadlock or worse.
        expect(statuses.filter((status) => status >= 500)).toEqual([]);
        await expectSoundLedger(sandbox.database);
        await expectMoneyToFollowStatuses();
      }),
      { numRuns: runs(10), endOnFailure: true },
    );
  });

  it('change the same large batch without deadlocks', async () => {
    for (let round = 0; round < 3; round++) {
      const credit = Array(300).fill({ valueInUSD: 0.01, twitter: '@ada' });
      const { body } = await sandbox.post('/send', { credit }).expect(200);
      const issueID = new URL(body.data.paymentLink).searchParams.get('issueID') ?? '';
      const statuses = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          index % 2
            ? take({ kind: 'expire' })
            : sandbox.submit('/pay', { issueID }).then(({ status }) => status),
        ),
      );
      expect(new Set(statuses)).toEqual(new Set([200, 303])); // a deadlock would return 503 to the other kind
      await expectSoundLedger(sandbox.database);
    }
  });

  it('transfer between two accounts in both directions without deadlocks', async () => {
    const { database } = sandbox;
    const usd = new Decimal('0.000001');
    const account = (accountId: string) => ({ accountId, type: 'momo' }) as const;
    const move = (from: string, to: string) =>
      database.$transaction((work) =>
        post(work, 'crossing', [
          { account: account(from), usd: usd.negated() },
          { account: account(to), usd },
        ]),
      );
    await sandbox
      .post('/wallets/transfer', { receiver: SUB_ACCOUNT, valueInUSD: 1, wallet: 'momo' })
      .expect(200);
    const crossings = Array.from({ length: 60 }, (_, index) =>
      index % 2 ? move(DEMO, SUB_ACCOUNT) : move(SUB_ACCOUNT, DEMO),
    );
    await Promise.all(crossings); // a deadlock would reject one of them
    await expectSoundLedger(database);
  });
});
