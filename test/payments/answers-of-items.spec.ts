import { answer } from '../support/network/fake-upstream';
import { successOf } from '../support/network/honest-answers';
import { PaymentScene, startPaying } from '../support/payments/paying';

type Fields = Record<string, unknown>;

const [A, B] = ['+254712345678', '+254712345679'];
const airtime = (...items: [phone: string, usd: number][]) => ({
  airtimes: items.map(([phoneNumber, valueInUSD]) => ({ countryToSend: 'Kenya', phoneNumber, valueInUSD })),
});

interface Lie {
  items: [phone: string, usd: number][];
  /** Changes the transactions of an honest answer. */
  lies: (transactions: Fields[]) => Fields[];
  states: string[];
  /** The differences of each item's transaction. Null if it has none. */
  differs: (string[] | null)[];
}

const failed = { status: 'failed' };
const change = (place: number, fields: Fields) => (transactions: Fields[]) =>
  transactions.map((one, at) => (at === place ? { ...one, ...fields } : one));
const TWO: Lie['items'] = [
  [A, 1.004],
  [B, 2.004],
];
const SAME: Lie['items'] = [
  [A, 1.004],
  [A, 1.003],
];

const LIES: Record<string, Lie> = {
  'phones without +': {
    items: TWO,
    lies: (all) =>
      change(1, failed)(all).map((one) => ({ ...one, phoneNumber: String(one.phoneNumber).slice(1) })),
    states: ['paid', 'failed'],
    differs: [[], []],
  },
  'amounts rounded to cents': {
    items: TWO,
    lies: (all) =>
      change(1, failed)(all).map((one) => ({ ...one, valueInUSD: Math.round(Number(one.valueInUSD)) })),
    states: ['paid', 'failed'],
    differs: [['amount'], ['amount']],
  },
  'an amount net of its fee': {
    items: TWO,
    lies: change(1, { valueInUSD: 1.904, fee: 0.1, ...failed }),
    states: ['paid', 'failed'],
    differs: [[], ['amount']],
  },
  'rows reversed': {
    items: TWO,
    lies: (all) => change(1, failed)(all).toReversed(),
    states: ['paid', 'failed'],
    differs: [[], []],
  },
  'a row repeated in place of another': {
    items: TWO,
    lies: ([first = {}]) => [first, first],
    states: ['paid', 'in_doubt'],
    differs: [[], null],
  },
  'a row repeated in place of another payout to the same person': {
    items: [
      [A, 1],
      [A, 1],
    ],
    lies: ([first = {}]) => [first, first],
    states: ['paid', 'in_doubt'],
    differs: [[], null],
  },
  'a row repeated with another status': {
    items: [[A, 1]],
    lies: ([first = {}]) => [{ ...first, ...failed }, first],
    states: ['in_doubt'],
    differs: [[]],
  },
  'a row of another recipient': {
    items: [[A, 1]],
    lies: change(0, { phoneNumber: B }),
    states: ['in_doubt'],
    differs: [null],
  },
  'a row of another recipient beside a right one': {
    items: TWO,
    lies: change(1, { phoneNumber: '+254712345670', ...failed }),
    states: ['paid', 'in_doubt'],
    differs: [[], null],
  },
  'a row of another type': {
    items: [[A, 1]],
    lies: change(0, { type: 'momo' }),
    states: ['in_doubt'],
    differs: [null],
  },
  'an amount beyond fee and rounding': {
    items: [[A, 1]],
    lies: change(0, { valueInUSD: 0.5, fee: 0.1 }),
    states: ['in_doubt'],
    differs: [null],
  },
  'two inexact amounts of one person with one status': {
    items: SAME,
    lies: (all) => all.map((one) => ({ ...one, valueInUSD: 1 })),
    states: ['paid', 'paid'],
    differs: [null, null],
  },
  'two inexact amounts of one person with two statuses': {
    items: SAME,
    lies: (all) => change(1, failed)(all).map((one) => ({ ...one, valueInUSD: 1 })),
    states: ['in_doubt', 'in_doubt'],
    differs: [null, null],
  },
  'rows without recipients': {
    items: TWO,
    lies: (all) => change(1, failed)(all).map(({ phoneNumber: _, ...one }) => one),
    states: ['paid', 'failed'],
    differs: [['recipient'], ['recipient']],
  },
  'fewer rows than items': {
    items: TWO,
    lies: (all) => all.slice(1),
    states: ['in_doubt', 'paid'],
    differs: [null, []],
  },
};

describe('the payouts of an answer', () => {
  let paying: PaymentScene;
  beforeAll(async () => void (paying = await startPaying({ checkCoverage: false, duplicateGuard: false })));
  afterAll(() => paying.close());

  const pay = (items: Lie['items']) => paying.proxy.post(paying.app, '/payouts/airtime', airtime(...items));

  it.each(Object.entries(LIES))(
    'have their states with %s',
    async (_name, { items, lies, states, differs }) => {
      paying.upstream.behaviour = (request, ...rest) => {
        const { status, data } = successOf(request);
        return answer(200, { status, data: { data: lies(data.data as Fields[]) } })(request, ...rest);
      };
      const record = await paying.record(await pay(items).expect(200));
      expect(record.outcome).toBe('succeeded');
      expect(record.items.map(({ state }) => state)).toEqual(states);
      expect(record.items.map(({ upstream }) => upstream && upstream.differs)).toEqual(differs);
    },
  );

  it.each([
    [204, ''],
    [200, ''],
  ])('are in doubt after an empty %i', async (status, body) => {
    paying.upstream.behaviour = answer(status, body);
    const record = await paying.record(await pay([[A, 1]]).expect(502));
    expect(record).toMatchObject({ outcome: 'unknown', items: [{ state: 'in_doubt', next: 'wait' }] });
  });
});
