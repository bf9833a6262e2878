import { Theirs } from '../../support/reconciliation/comparison';
import {
  at,
  latest,
  listed,
  OLD,
  paid,
  run,
  useDatabase,
  wallets,
} from '../../support/reconciliation/listing-scene';
import { WalletEntry } from '../../support/reconciliation/wallets';

const COLLECT = 'POST /collections/mobile-money/collect';
const collected = (status: string) => listed('in', 11, { type: 'payment', status, amount_usd: '25' });
const refund = (more: Partial<Theirs> = {}) =>
  listed('back', 4_000, { type: 'refund', amount_usd: '25', email: 'in@example.com', ...more });

const ARRIVAL: WalletEntry = ['100', '25', '125', 12];
const RETURN: WalletEntry = ['125', '-25', '100', 4_001];
const LATER: WalletEntry = ['100', '-25', '75', 4_002];

const FLOWS = { collection: { count: 1, usd: '25' }, refund: { count: 1, usd: '-25' } };

describe('a collection that was given back', () => {
  useDatabase('of all tests');

  const name = (kind: string, seconds: number) =>
    `${kind} wallet/w/${at(seconds).replace('.000Z', '.000000Z')} 0`;
  const result = async (theirs: Theirs[], entries: WalletEntry[]) => {
    const first = Math.min(0, entries[0]?.[3] ?? 0);
    const opened: WalletEntry = ['0', '100', '100', first - 60, 'top-up'];
    const walletsReadId = await wallets({ w: [opened, ...entries] });
    const [word, , found] = await run([OLD(), ...theirs], { walletsReadId });
    return { word, found, flows: latest.wallets[0]?.flows };
  };

  it.each([
    ['refunded', 'refund'],
    ['reversed', 'reversal'],
  ] as const)('explains its credit and its debit if its status is %s', async (status, flow) => {
    await paid('in', 10, { operation: COLLECT, usd: null, entry: status });
    const { refund: back, ...flows } = FLOWS;
    expect(await result([collected(status)], [ARRIVAL, RETURN])).toEqual({
      word: 'clean',
      found: [],
      flows: { ...flows, [flow]: back },
    });
  });

  it.each([
    ['its reference', { upstream_ref: 'in-refund', reference: 'order-1' }, { reference: 'order-1' }],
    ['its batch', { batch_ref: 'both' }, { batch_ref: 'both' }],
    ['its payer', {}, {}],
  ])(
    'explains them by a listed refund with %s, which is a finding without money',
    async (_by, back: Partial<Theirs>, own: Partial<Theirs>) => {
      await paid('in', 10, { operation: COLLECT, usd: null });
      const { found, flows } = await result(
        [{ ...collected('paid'), ...own }, refund(back)],
        [ARRIVAL, RETURN],
      );
      expect(found).toEqual([`refund upstream_ref/${back.upstream_ref ?? 'back'} 0`]);
      expect(flows).toEqual(FLOWS);
      expect(latest.residual_usd).toBe('0');
    },
  );

  it('explains one debit, by its status and a listed refund', async () => {
    const rows = [collected('refunded'), refund()];
    const { found, flows } = await result(rows, [ARRIVAL, RETURN, LATER]);
    expect(found.filter((line) => line.startsWith('unexplained'))).toEqual([
      name('unexplained_debit', 4_002),
    ]);
    expect(flows).toMatchObject(FLOWS);
  });

  it.each([
    ['never arrived', 'refunded', [LATER], [4_002]],
    ['failed', 'failed', [LATER], [4_002]],
    ['was not given back', 'paid', [ARRIVAL, RETURN], [4_001]],
  ] as [string, string, WalletEntry[], number[]][])(
    'explains no debit if it %s',
    async (_what, status, entries, unexplained) => {
      const { found } = await result([collected(status)], entries);
      expect(found.filter((line) => line.startsWith('unexplained'))).toEqual(
        unexplained.map((seconds) => name('unexplained_debit', seconds)),
      );
    },
  );

  describe('of an earlier period', () => {
    const EARLY = -5 * 86_400;
    const early = (status: string, more: Partial<Theirs> = {}) => ({
      ...collected(status),
      issued_at: at(EARLY),
      ...more,
    });
    const EARLY_ARRIVAL: WalletEntry = ['100', '25', '125', EARLY + 1];
    beforeEach(() => paid('in', EARLY, { operation: COLLECT, usd: null }));

    it.each([
      ['refunded', 'refund'],
      ['reversed', 'reversal'],
    ])('explains its debit if its status is %s and its credit is shown', async (status, flow) => {
      expect(await result([early(status)], [EARLY_ARRIVAL, RETURN])).toEqual({
        word: 'clean',
        found: [],
        flows: { [flow]: FLOWS.refund },
      });
    });

    it.each([
      ['its reference', { upstream_ref: 'in-refund', reference: 'order-1' }, { reference: 'order-1' }],
      ['its batch', { batch_ref: 'both' }, { batch_ref: 'both' }],
      ['its payer', {}, {}],
    ])(
      'explains it by a listed refund with %s, which is a finding without money',
      async (_by, back: Partial<Theirs>, own: Partial<Theirs>) => {
        const { found, flows } = await result([early('paid', own), refund(back)], [EARLY_ARRIVAL, RETURN]);
        expect(found).toEqual([`refund upstream_ref/${back.upstream_ref ?? 'back'} 0`]);
        expect(flows).toEqual({ refund: FLOWS.refund });
        expect(latest.residual_usd).toBe('0');
      },
    );

    it.each<[string, string, WalletEntry[]]>([
      ['never arrived', 'refunded', [LATER]],
      ['failed', 'failed', [EARLY_ARRIVAL, RETURN]],
      ['was not given back', 'paid', [EARLY_ARRIVAL, RETURN]],
      ['was given back before', 'refunded', [EARLY_ARRIVAL, ['125', '-25', '100', EARLY + 86_400], LATER]],
    ])('explains no debit if it %s', async (_what, status, entries) => {
      const { found } = await result([early(status)], entries);
      const seconds = entries.at(-1)?.[3] ?? 0;
      expect(found).toEqual([name('unexplained_debit', seconds)]);
    });
  });

  it('takes no refund from a payout of the same person', async () => {
    await paid('out', 10, { usd: '25', email: 'in@example.com' });
    const out = listed('out', 11, { amount_usd: '25', email: 'in@example.com' });
    const { found } = await result(
      [out, { ...collected('paid'), upstream_ref: 'stranger' }, refund()],
      [
        ['100', '-25', '75', 11],
        ['75', '25', '100', 12],
        ['100', '25', '125', 4_001],
      ],
    );
    expect(found).toEqual(['missing_local upstream_ref/stranger 0', 'refund upstream_ref/back -25']);
  });
});
