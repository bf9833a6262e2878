import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { applyDueChanges } from '../../../src/sandbox/behaviour/sweeper';
import { expectSoundLedger } from '../../support/reconciliation/sound-ledger';
import { DEMO, startSandbox, SUB_ACCOUNT, TestSandbox } from '../../support/sandbox/sandbox';

const RUNS = 25;
const KENYA = { countryToSend: 'Kenya', phoneNumber: '+254712345678' };
const WORDS = [
  'unpaid',
  'pending',
  'paid',
  'failed',
  'reversed',
  'REFUNDED',
  'expired',
  'redeemed',
  'SETTLED_T2',
];

const usd = fc.integer({ min: 1, max: 4_000_000_000 }).map((millionths) => millionths / 1_000_000);
const nth = fc.nat({ max: 20 });
const fault = fc.constantFrom(
  'failsLater',
  'reversesLater',
  'refundsLater',
  'duplicateTransaction',
  'error500AfterSome',
);
const wallet = fc.constantFrom('chi', 'momo', 'airtime');
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('airtime', 'momo', 'credit', 'initiate'), usd, nth }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('collect', 'transfer'), usd, nth }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('link', 'redeem', 'delete', 'verify', 'fee'), usd, nth }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('status'),
      status: fc.constantFrom(...WORDS),
      returnsFee: fc.boolean(),
      nth,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('money'), money: fc.constantFrom('kept', 'paid'), nth }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('top-up', 'withdrawal'), usd, wallet }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fault'), fault }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('settings'),
      feePercent: fc.constantFrom(0, 1.5, 33.333),
      returnsFee: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('time') }) },
);

/** A step of a sequence, with fields by its kind. */
interface Step {
  do: string;
  usd?: number;
  nth?: number;
  [setting: string]: unknown;
}

const NOTHING = { id: 'none', chiRef: 'none', issueID: 'none', type: 'none', status: 'none' };
type ChosenTransaction = typeof NOTHING;

/** Conditions for the transaction of a step. Other steps apply to any transaction. */
const APPLICABLE: Record<string, (transaction: ChosenTransaction) => boolean> = {
  link: ({ status }) => status === 'unpaid',
  redeem: ({ type, status }) => type === 'credit' && status === 'paid',
  delete: ({ status }) => status === 'unpaid',
  verify: ({ type }) => type === 'payment',
};

const PAYER = {
  currency: 'KES',
  phone_number: KENYA.phoneNumber,
  fullname: 'Ada',
  country: 'Kenya',
  email: 'ada@example.org',
  tx_ref: 'a',
};

/** Runs random sequences of payments, changes and entries, partly concurrent. */
describe('the ledger of a sandbox that changes its answers', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => void (sandbox = await startSandbox()));
  afterAll(() => sandbox.close());

  const transactions = async () => (await sandbox.control('get', '/transactions').expect(200)).body;

  const post = (path: string, body: object) => sandbox.post(path, body);
  const control = (method: 'post' | 'patch', path: string, body: object) =>
    sandbox.control(method, path, body);
  const credits = (valueInUSD: number) => ({ credits: [{ valueInUSD, email: 'ada@example.org' }] });
  const entry = ({ do: type, usd: valueInUSD, wallet: name }: Step) =>
    control('post', '/entries', { type, account: DEMO, wallet: name, valueInUSD });
  const change = ({ do: _do, nth: _nth, ...fields }: Step, { chiRef }: ChosenTransaction) =>
    control('patch', `/transactions/${chiRef}`, fields);

  /** Functions that execute each kind of step, on the chosen transaction. */
  const EXECUTION: Record<
    string,
    (next: Step, chosen: ChosenTransaction) => PromiseLike<{ status: number }>
  > = {
    airtime: ({ usd: value }) =>
      post('/payouts/airtime', {
        airtimes: [
          { ...KENYA, valueInUSD: value },
          { ...KENYA, valueInUSD: 1 },
        ],
      }),
    momo: ({ usd: valueInUSD }) =>
      post('/payouts/mobile-money', { momos: [{ ...KENYA, valueInUSD, momoCode: 'MPS', reference: '' }] }),
    credit: ({ usd: value = 1 }) => post('/payouts/credit', credits(value)),
    initiate: ({ usd: value = 1 }) => post('/payouts/initiate-credit', credits(value)),
    collect: ({ usd: value = 1 }) =>
      post('/collections/mobile-money/initiate', { ...PAYER, amount: Math.ceil(value) }),
    transfer: ({ usd: valueInUSD }) => post('/wallets/transfer', { receiver: SUB_ACCOUNT, valueInUSD }),
    link: (_next, { issueID }) => sandbox.submit('/pay', { issueID }),
    redeem: (_next, { chiRef }) => post('/redeem/airtime', { chiRef, ...KENYA }),
    delete: (_next, { chiRef }) => post('/account/delete-unpaid-transaction', { chiRef }),
    verify: (_next, { id }) => post('/collections/mobile-money/verify', { id }),
    fee: ({ usd: valueInUSD }, { chiRef }) =>
      control('post', '/entries', { type: 'fee', chiRef, valueInUSD }),
    status: change,
    money: change,
    'top-up': entry,
    withdrawal: entry,
    fault: ({ fault: name }) => control('post', '/faults', { fault: name, nth: 1 }),
    settings: ({ do: _do, ...settings }) => control('patch', '/settings', settings),
    time: async () => {
      await applyDueChanges(sandbox.database, sandbox.behaviour, new Date(Date.now() + 60_000));
      return { status: 200 };
    },
  };

  const take = async (next: Step): Promise<string> => {
    const fits = APPLICABLE[next.do] ?? (() => true);
    const all = (await transactions()).filter(fits);
    const { status } = await EXECUTION[next.do]!(
      next,
      all[(next.nth ?? 0) % Math.max(all.length, 1)] ?? NOTHING,
    );
    return `${next.do} ${status}`;
  };

  it('is exact, and agrees with the wallets', async () => {
    const results = new Set<string>();
    const steps = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 5, maxLength: 15 });
    const holds = fc.asyncProperty(steps, async (turns) => {
      await sandbox.control('post', '/reset').expect(204);
      for (const turn of turns) {
        const answers = await Promise.all(turn.map(take));
        for (const answer of answers) results.add(answer);
        expect(answers.filter((answer) => answer.endsWith('503'))).toEqual([]);
      }
      await expectSoundLedger(sandbox.database, { statusesTwice: true });
      const { body: wallets } = await sandbox.control('get', '/wallets').expect(200);
      for (const { balance, entries } of wallets) {
        const sum = entries.reduce((total, { amount }) => total.plus(amount), new Decimal(0));
        expect(sum.toFixed()).toBe(balance);
      }
      expect((await sandbox.control('get', '/ledger').expect(200)).body.sum).toBe('0');
    });
    await fc.assert(holds, { numRuns: RUNS });
    for (const done of ['airtime', 'redeem', 'delete', 'verify', 'status', 'money'])
      expect(results).toContain(`${done} 200`);
    expect(results).toContain('link 303');
    for (const done of ['fee', 'top-up', 'withdrawal']) expect(results).toContain(`${done} 201`);
    for (const refused of ['redeem', 'fee']) expect(results).toContain(`${refused} 400`);
  });
});
