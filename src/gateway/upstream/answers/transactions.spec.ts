import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { readAmount, transactionsIn } from './transactions';

const CHI_REF = '3f8a0c1e-9d0b-4c54-8f55-2f6d0a4f8f11';
const TRANSACTION = {
  id: 'Zk3x9Qw1Lm7Tn2Rb5Vc8',
  chiRef: CHI_REF,
  issueID: 'issuer_2.5_1700000000000',
  status: 'paid',
  valueInUSD: '0.1',
  email: 'ada@example.com',
  issueDate: '2026-11-20T10:00:00.000Z',
  type: 'credit',
  fee: 0.01,
  phoneNumber: '+254712345678',
  phone: '+254799999999',
  twitter: '@ada',
  countryToSend: 'Kenya',
  momoCode: 'MPS',
  reference: 'ref-1',
  receiver: 'account-1',
  redeemLink: 'https://pay.example.com',
  meta: { email: 'x@example.com' },
};
const OTHER = { ...TRANSACTION, id: 'x', chiRef: 'y' };
const READ = {
  upstreamId: 'Zk3x9Qw1Lm7Tn2Rb5Vc8',
  upstreamRef: CHI_REF,
  batchRef: 'issuer_2.5_1700000000000',
  status: 'paid',
  issuedAt: new Date('2026-11-20T10:00:00Z'),
  type: 'credit',
  email: 'ada@example.com',
  phone: '+254712345678',
  handle: '@ada',
  country: 'Kenya',
  networkCode: 'MPS',
  reference: 'ref-1',
  receiver: 'account-1',
  recipients: ['ada@example.com', '+254712345678', '+254799999999', '@ada'],
};
const inEnvelope = (data: unknown) =>
  transactionsIn(Buffer.from(JSON.stringify({ status: 'success', data })));
const readOne = (fields: object) => inEnvelope([{ ...TRANSACTION, ...fields }])[0];

describe('transactionsIn', () => {
  // docs/reference/upstream.md, "Results by operation"
  it.each<[string, unknown, number]>([
    ['POST /send', { paymentLink: 'https://pay.example.com' }, 0],
    [
      'POST /payouts/airtime',
      { payoutLink: '-', data: [TRANSACTION, OTHER], error: 'None', payouts: [{}] },
      2,
    ],
    ['POST /payouts/mobile-money', { credits: [TRANSACTION], payouts: [] }, 1],
    [
      'POST /payouts/mobile-money, payouts as a map',
      { credits: [TRANSACTION], payouts: { 0: {}, issueID: 'x' } },
      1,
    ],
    ['an answer with different transactions in both lists', { data: [TRANSACTION], credits: [OTHER] }, 2],
    [
      'an answer with the same transactions in both lists',
      { data: [TRANSACTION], credits: [TRANSACTION] },
      1,
    ],
    ['an answer with one transaction and a list', { data: TRANSACTION, credits: [OTHER] }, 2],
    ['POST /payouts/credit', { paymentLink: '-', data: [TRANSACTION], credits: [], error: 'None' }, 1],
    ['POST /account/delete-unpaid-transaction', TRANSACTION, 1],
    ['a plain list', [TRANSACTION, 'noise', null, {}, OTHER], 2],
    ['nothing', undefined, 0],
    ['null', null, 0],
  ])('finds the transactions of %s', (_operation, data, count) => {
    const found = inEnvelope(data);
    const known = found.map((one) => ({ ...one, upstreamId: READ.upstreamId, upstreamRef: CHI_REF }));
    expect(
      known.map(({ amountUsd, feeUsd, ...rest }) => [rest, amountUsd?.toFixed(), feeUsd?.toFixed()]),
    ).toEqual(Array.from({ length: count }, () => [READ, '0.1', '0.01']));
  });

  it('reads a repeated transaction once, with the words of all its statuses', () => {
    const statuses = (...records: object[]) => inEnvelope(records).map(({ status }) => status);
    expect(statuses(TRANSACTION, { ...OTHER, id: TRANSACTION.id, status: 'PAID ' })).toEqual(['paid']);
    expect(statuses(TRANSACTION, { ...OTHER, chiRef: CHI_REF, status: 'failed' })).toEqual([
      'paid and failed',
    ]);
    expect(statuses({ ...TRANSACTION, status: 'failed' }, TRANSACTION, TRANSACTION)).toEqual([
      'failed and paid',
    ]);
  });

  it('translates the word for mobile money, and keeps every other type', () => {
    const words = ['momo', 'MoMo', 'mobile_money', 'airtime', 'Airtime_v2', 7, null];
    const types = ['mobile_money', 'mobile_money', 'mobile_money', 'airtime', 'Airtime_v2', '7', null];
    expect(words.map((type) => readOne({ type })?.type)).toEqual(types);
  });

  it.each([
    ["a transaction's ID", 'T1', { upstreamId: 'T1', upstreamRef: null }],
    ["a transaction's chiRef", CHI_REF, { upstreamId: null, upstreamRef: CHI_REF }],
  ])('finds a transfer by its tnxID, which is %s', (_which, tnxID, names) => {
    const transfer = { sender: 'a', wallet: 'airtime', valueInUSD: 2, tnxID, receiver: 'b' };
    expect(inEnvelope({ data: transfer, error: 'None' })).toMatchObject([{ ...names, status: null }]);
  });

  it.each<[unknown, string | undefined]>([
    ['0.1', '0.1'],
    [0.1, '0.1'],
    [529.0179999999988, '529.0179999999988'],
    ['0.30000000000000004', '0.30000000000000004'],
    [0, '0'],
    [-1.5, '-1.5'],
    [1e14, '100000000000000'],
    ['999999999999999.999999999999999999', '999999999999999.999999999999999999'],
    ...[1e300, 1e15, 1e-300, null, true, {}].map((nonsense): [unknown, undefined] => [nonsense, undefined]),
    ...'0x10|0b1|0o7|1e3|1e14| 5 |5\n|1,000|1_000|+5|.5|5.|05|--5|٣|$5|NaN|Infinity|-Infinity|abc||'
      .concat('1'.repeat(16), `|0.${'1'.repeat(19)}`)
      .split('|')
      .map((text): [unknown, undefined] => [text, undefined]),
  ])('reads the amount %j as %s', (valueInUSD, amount) => {
    expect(readOne({ valueInUSD })?.amountUsd?.toFixed()).toBe(amount);
  });

  it('reads an amount exactly as written, or not at all', () => {
    const digits = fc.tuple(
      fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n }),
      fc.stringMatching(/^\d{0,18}$/),
    );
    fc.assert(
      fc.property(digits, ([whole, fraction]) => {
        const written = fraction === '' ? `${whole}` : `${whole}.${fraction}`;
        expect(readAmount(written)?.eq(new Decimal(written))).toBe(true);
      }),
    );
    const written = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[ +-]?[\d.,_exabnInfity]{1,20} ?$/),
      fc.double().map(String),
    );
    fc.assert(fc.property(written, (text) => readAmount(text) === null || /^-?\d+(\.\d+)?$/.test(text)));
  });

  it('reads the digits of a numeric chiRef, even beyond the precision of a double', () => {
    const refs = ['12345', '12345678901234567', '12345678901234568'];
    const listed = refs.map((digits) => `{"chiRef":${digits}}`).join();
    const read = transactionsIn(Buffer.from(`{"status":"success","data":[${listed}]}`));
    expect(read.map(({ upstreamRef }) => upstreamRef)).toEqual(refs);
  });

  it('omits characters that no column can hold, and truncates very long values', () => {
    const half = '\ud83d';
    expect(readOne({ status: `a\0b${half}` })?.status).toBe('ab\ufffd');
    expect(readOne({ status: 'x'.repeat(10_000) })?.status).toHaveLength(255);
    expect(readOne({ status: `${'x'.repeat(254)}\ud83d\ude00` })?.status).toBe(`${'x'.repeat(254)}\ufffd`);
    expect(readOne({ chiRef: { a: 1 }, id: ['x'] })).toMatchObject({ upstreamRef: null, upstreamId: null });
  });

  it('reads no more transactions than the largest request has items', () => {
    expect(inEnvelope(Array.from({ length: 10_001 }, (_, chiRef) => ({ chiRef })))).toHaveLength(10_000);
  });

  it('never throws on any bytes', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => Array.isArray(transactionsIn(Buffer.from(bytes)))));
    const value = fc.oneof(fc.jsonValue(), fc.double(), fc.string({ unit: 'binary' }));
    const transaction = fc.record(
      {
        chiRef: value,
        id: value,
        tnxID: value,
        issueID: value,
        status: value,
        valueInUSD: value,
        email: value,
      },
      { requiredKeys: [] },
    );
    const data = fc.oneof(
      fc.array(transaction),
      fc.record({ data: fc.array(transaction) }),
      transaction,
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(data, (given) => {
        for (const { upstreamRef, upstreamId, batchRef, status, amountUsd } of inEnvelope(given)) {
          for (const text of [upstreamRef, upstreamId, batchRef, status])
            expect(text ?? '').not.toMatch(/\0|\p{Surrogate}/u);
          expect(amountUsd?.isFinite() ?? true).toBe(true);
        }
      }),
    );
  });

  it('reads a body of a million nested lists without running out of stack', () => {
    expect(transactionsIn(Buffer.from('['.repeat(1_000_000) + ']'.repeat(1_000_000)))).toEqual([]);
  });
});
