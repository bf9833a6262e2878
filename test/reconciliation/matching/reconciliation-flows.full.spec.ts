import {
  at,
  database,
  latest,
  listed,
  OLD,
  paid,
  run,
  useDatabase,
  wallets,
} from '../../support/reconciliation/listing-scene';
import { WalletEntry } from '../../support/reconciliation/wallets';
import { insertSettlements } from '../../support/records/documents';

const CHI = { email: 'a@example.com' };

async function newestCall(): Promise<string | undefined> {
  const newest = 'SELECT id::text FROM intent ORDER BY id DESC LIMIT 1';
  return (await database.query<{ id: string }>(newest))[0]?.id;
}

describe('a listed transaction other than a payment', () => {
  useDatabase('of all tests');
  beforeEach(() => paid('a', 10));

  it.each<[string, object]>([
    ['has the type refund', { type: 'refund' }],
    ['has a negative amount', { amount_usd: '-10' }],
  ])('is a refund if it %s, and no duplicate', async (_what, more) => {
    const back = listed('b', 60, { ...CHI, ...more });
    const found = ['refund upstream_ref/b -10'];
    expect(await run([OLD(), listed('a', 11), back])).toEqual(['findings', [], found]);
    expect(latest.aside).toEqual({ refund: { count: 1, usd: '10' } });
    const newest = 'SELECT call_id IS NOT NULL AS linked FROM finding ORDER BY id DESC LIMIT 1';
    expect(await database.query(newest)).toEqual([{ linked: true }]);
  });

  it('is a reversal by its type', async () => {
    const back = listed('b', 60, { ...CHI, type: 'Reversal' });
    const found = ['reversal upstream_ref/b -10'];
    expect(await run([OLD(), listed('a', 11), back])).toEqual(['findings', [], found]);
  });

  it('is a refund if the second one of a payment has the status refunded', async () => {
    const same = listed('b', 60, { ...CHI, status: 'refunded' });
    expect(await run([OLD(), listed('a', 11), same])).toEqual(['findings', [], ['refund upstream_ref/b 0']]);
    await paid('c', 10);
    const twice = [listed('c', 11, { status: 'refunded' }), listed('c', 11)];
    expect((await run([OLD(), listed('a', 11), ...twice]))[2]).toEqual(['refund upstream_ref/c#2 0']);
  });

  it('counts once if the status of the payment agrees', async () => {
    const refund = listed('b', 60, { ...CHI, type: 'refund' });
    const rows = [OLD(), listed('a', 11, { status: 'refunded' }), refund];
    expect(await run(rows)).toEqual(['findings', [], [`refund call/${await newestCall()}/0 -10`]]);
  });

  it.each(['topup', 'Top-up', 'deposit', 'wallet_funding'])(
    'is a top-up by the type %s, and no finding',
    async (type) => {
      expect(await run([OLD(), listed('a', 11), listed('b', 12, { type })])).toEqual(['clean', [], []]);
      expect(latest.aside).toEqual({ top_up: { count: 1, usd: '10' } });
    },
  );

  it('is a fee by its type', async () => {
    const fee = listed('b', 12, { type: 'fee', amount_usd: '0.25' });
    expect(await run([OLD(), listed('a', 11), fee])).toEqual(['findings', [], ['fee upstream_ref/b 0.25']]);
  });

  it.each(['reversed', 'refunded', 'failed'] as const)(
    'is no finding once the ledger has %s',
    async (entry) => {
      const rows = [OLD(), listed('a', 11, { status: entry })];
      expect((await run(rows))[0]).toBe('findings');
      const entries = [{ position: 0, entry, from: 'recipient', to: 'available', upstream_ref: 'a' }];
      const settlement = { intent_id: await newestCall(), resolution: undefined, entries };
      await insertSettlements(database, [{ ...settlement, recorded_at: at(70) }]);
      expect((await run(rows))[0]).toBe('clean');
    },
  );

  it('never replaces a payment', async () => {
    const stranger = listed('b', 12, { ...CHI, type: 'top_up' });
    const [result, , found] = await run([OLD(), stranger]);
    expect([result, found.map((line) => line.split(' ')[0])]).toEqual(['findings', ['missing_upstream']]);
  });

  it('leaves an unknown payment unknown', async () => {
    const unknown = listed('stranger', 12, { type: 'airtime', status: 'refunded' });
    expect((await run([OLD(), listed('a', 11), unknown]))[2]).toEqual([
      'missing_local upstream_ref/stranger 0',
    ]);
  });
});

describe('the doubts of a period', () => {
  useDatabase('of all tests');

  it('are counted and named by kind', async () => {
    await paid('a', 10);
    await paid('doubt', 20, { kind: 'unknown', upstream_ref: null });
    expect(await run([OLD(), listed('a', 11, { status: 'processing' })])).toEqual([
      'clean_with_doubts',
      [],
      [],
    ]);
    expect(latest).toMatchObject({
      in_doubt: { count: 1, usd: '10' },
      pending: { count: 1, usd: '10' },
      ambiguous: { count: 0, usd: '0' },
      doubts: [
        { kind: 'pending', position: 0, upstream_ref: 'a', status: 'processing', usd: '10' },
        { kind: 'in_doubt', position: 0, operation: 'POST /payouts/credit', upstream_ref: null, usd: '10' },
      ],
    });
  });

  it('include a call in doubt whose transaction failed', async () => {
    await paid('a', 10, { kind: 'unknown' });
    expect((await run([OLD(), listed('a', 11, { status: 'failed' })]))[0]).toBe('clean_with_doubts');
  });

  it('include unknown status words', async () => {
    await paid('a', 10);
    expect((await run([OLD(), listed('a', 11, { status: 'Teleported' })]))[0]).toBe('findings');
    expect(latest.ambiguous).toEqual({ count: 1, usd: '10' });
  });
});

describe('the flows of a wallet', () => {
  useDatabase('of all tests');
  const name = (kind: string, seconds: number) =>
    `${kind} wallet/w/${at(seconds).replace('.000Z', '.000000Z')} 0`;
  const flows = async (entries: WalletEntry[]) => {
    const walletsReadId = await wallets({ w: entries });
    const [, , found] = await run(LISTING(), { walletsReadId });
    const [wallet] = latest.wallets;
    return { found, ...wallet };
  };
  const LISTING = () => [
    OLD(),
    listed('a', 11, { fee_usd: '0.1' }),
    listed('back', 12, { status: 'failed', amount_usd: '3' }),
    listed('up', 13, { type: 'topup', amount_usd: '50' }),
    listed('out', 14, { type: 'transfer', amount_usd: '7' }),
  ];

  it('add up to its closing balance, each with its kind', async () => {
    const shown = await flows([
      ['100', '20', '120', -60],
      ['120', '-10.1', '109.9', 11],
      ['109.9', '-3', '106.9', 12],
      ['106.9', '3', '109.9', 5_000],
      ['109.9', '50', '159.9', 5_001],
      ['159.9', '-7', '152.9', 5_002],
      ['152.9', '5', '157.9', 5_003],
    ]);
    expect(shown).toMatchObject({
      opening_usd: '120',
      closing_usd: '157.9',
      gap_usd: '0',
      shown_since: null,
    });
    expect(shown.flows).toEqual({
      payout: { count: 2, usd: '-13' },
      fee: { count: 0, usd: '-0.1' },
      reversal: { count: 1, usd: '3' },
      unexplained: { count: 3, usd: '48' },
    });
    expect(shown.found.filter((line) => line.startsWith('unexplained'))).toEqual([
      name('unexplained_credit', 5_001),
      name('unexplained_credit', 5_003),
      name('unexplained_debit', 5_002),
    ]);
  });

  it('match a transaction near their time, or one named in the description', async () => {
    const { flows: near } = await flows([
      ['100', '50', '150', 20],
      ['150', '-7', '143', 21],
    ]);
    expect(near).toEqual({ top_up: { count: 1, usd: '50' }, transfer_out: { count: 1, usd: '-7' } });
    const { flows: far } = await flows([
      ['100', '50', '150', 9_000, 'booked up'],
      ['150', '1', '151', 9_001, 'Top-up by bank'],
      ['151', '2', '153', 9_002, 'transfer x'],
      ['153', '-2', '151', 9_003, 'transfer x'],
    ]);
    expect(far).toEqual({
      top_up: { count: 2, usd: '51' },
      transfer_in: { count: 1, usd: '2' },
      unexplained: { count: 1, usd: '-2' },
    });
  });

  it('reveal a gap, and the beginning of the shown entries', async () => {
    expect(
      await flows([
        ['100', '-7', '93', 20],
        ['90', '50', '140', 21],
      ]),
    ).toMatchObject({ opening_usd: '100', closing_usd: '140', gap_usd: '-3', shown_since: at(20) });
  });

  it('place an entry without a time next to its neighbors', async () => {
    const walletsReadId = await wallets({
      w: [
        ['100', '-7', '93', 20],
        ['93', '-4', '89', null],
      ],
    });
    const [, , found] = await run(LISTING(), { walletsReadId });
    expect(found.filter((line) => line.startsWith('unexplained_debit'))).toEqual([
      'unexplained_debit wallet/w/untimed/93/-4/89 0',
    ]);
  });

  it('explain no fee by an entirely failed batch of an earlier period', async () => {
    const failed = (ref: string, amount_usd: string) =>
      listed(ref, -30, { status: 'failed', batch_ref: 'both', amount_usd });
    const walletsReadId = await wallets({
      w: [
        ['100', '-3.5', '96.5', -30],
        ['96.5', '3.5', '100', -20],
        ['100', '-0.1', '99.9', 20],
      ],
    });
    const rows = [OLD(), failed('one', '1.5'), failed('other', '2')];
    expect((await run(rows, { walletsReadId }))[2]).toEqual([name('unexplained_debit', 20)]);
  });

  it.each([-1, 86_401])(
    'explain no debit by a payment that explains another, at %i s and outside of the period',
    async (own) => {
      const inside = own < 0 ? 30 : 86_390;
      const debits: WalletEntry[] = [own, inside]
        .toSorted((one, other) => one - other)
        .map((seconds, n) => [`${100 - 10 * n}`, '-10', `${90 - 10 * n}`, seconds]);
      const walletsReadId = await wallets({ w: debits });
      expect((await run([OLD(), listed('a', own)], { walletsReadId }))[2]).toEqual([
        name('unexplained_debit', inside),
      ]);
    },
  );
});
