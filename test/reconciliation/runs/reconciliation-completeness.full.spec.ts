import { v7 as uuidv7 } from 'uuid';
import { Ours, Theirs, writeOurs } from '../../support/reconciliation/comparison';
import {
  at,
  database,
  day,
  DAY_MS,
  listed,
  OLD,
  paid,
  run,
  steps,
  useDatabase,
  wallets,
} from '../../support/reconciliation/listing-scene';
import { WalletEntry } from '../../support/reconciliation/wallets';

describe('a listing that does not reach back before the period', () => {
  useDatabase('of each test');

  it('makes a run incomplete, and closes nothing', async () => {
    await paid('a', 10);
    expect(await run([OLD(), listed('a', 11), listed('stranger', 12)])).toMatchObject(['findings', [], [{}]]);
    const late = { call_id: uuidv7({ msecs: day + 12_000 }), operation: 'POST /payouts/credit', at: at(12) };
    await writeOurs(database, [{ ...late, kind: 'succeeded', usd: '10', upstream_ref: 'stranger' }]);
    const cut = [listed('a', 11), listed('stranger', 12)];
    expect(await run(cut)).toEqual(['incomplete', ['listing_starts_late'], []]);
    expect(await steps()).toEqual([]);
    expect(await run([OLD(), ...cut])).toEqual(['clean', [], []]);
    expect(await steps()).toEqual(['resolved']);
  });

  it('makes a run incomplete if the listing has no times at all', async () => {
    await paid('a', 10);
    const timeless = listed('a', 11, { issued_at: null });
    expect(await run([timeless])).toEqual(['incomplete', ['listing_starts_late'], []]);
  });

  it('does not hide findings', async () => {
    expect(await run([listed('stranger', 12)])).toEqual([
      'findings',
      ['listing_starts_late'],
      ['missing_local upstream_ref/stranger 10'],
    ]);
  });

  describe('for a provably young account', () => {
    const young: WalletEntry[] = [
      ['0', '100', '100', -60],
      ['100', '-10', '90', 11],
    ];
    beforeEach(() => paid('a', 10));

    it('is complete if its wallets are shown completely and lost nothing before the period', async () => {
      const walletsReadId = await wallets({ w: young, other: [] });
      expect(await run([listed('a', 11)], { walletsReadId })).toEqual(['clean', [], []]);
    });

    it.each<[string, Record<string, WalletEntry[]>, string[]]>([
      ['begins with a balance', { w: [['100', '-10', '90', 11]] }, ['entries_start_late']],
      [
        'lost value before the period',
        {
          w: [
            ['0', '100', '100', -60],
            ['100', '-1', '99', -30],
            ['99', '-10', '89', 11],
          ],
        },
        [],
      ],
      [
        'is one of two and begins with a balance',
        { w: young, other: [['5', '1', '6', 20, 'top-up']] },
        ['entries_start_late'],
      ],
      ['is missing', {}, ['entries_outdated']],
    ])('is incomplete if a wallet %s', async (_what, looks, more) => {
      const walletsReadId = await wallets(looks);
      const [result, reasons] = await run([listed('a', 11)], { walletsReadId });
      expect([result, reasons]).toEqual(['incomplete', ['listing_starts_late', ...more]]);
    });

    it('is complete if an earlier reading showed a beginning that this one omits', async () => {
      await wallets({ w: young });
      const walletsReadId = await wallets({ w: [['100', '-10', '90', 11]] });
      expect((await run([listed('a', 11)], { walletsReadId }))[1]).toEqual(['entries_start_late']);
    });

    it('is incomplete by a reading from before the period', async () => {
      await wallets({ w: [['0', '100', '100', -60]] }, new Date(day - 30_000));
      const walletsReadId = await wallets({ w: [['100', '-10', '90', 11]] });
      expect((await run([listed('a', 11)], { walletsReadId }))[0]).toBe('incomplete');
    });

    it('is incomplete if our own records have an older payment', async () => {
      await paid('before', -7_200);
      const walletsReadId = await wallets({ w: young });
      expect((await run([listed('a', 11)], { walletsReadId }))[0]).toBe('incomplete');
    });

    it('is incomplete if an earlier listing had an older transaction', async () => {
      await run([OLD(), listed('a', 11)]);
      const walletsReadId = await wallets({ w: young });
      expect((await run([listed('a', 11)], { walletsReadId }))[0]).toBe('incomplete');
    });
  });
});

describe('an empty listing', () => {
  useDatabase('of all tests');

  it('makes a run incomplete, even over a period without calls', async () => {
    const walletsReadId = await wallets({ w: [] });
    expect(await run([])).toEqual(['incomplete', ['listing_empty'], []]);
    expect(await run([], { walletsReadId })).toEqual(['incomplete', ['listing_empty'], []]);
    expect(await run([], { source: 'statement' })).toEqual(['incomplete', ['listing_empty'], []]);
  });

  it('closes no finding', async () => {
    expect((await run([OLD(), listed('stranger', 12)]))[0]).toBe('findings');
    expect((await run([]))[0]).toBe('incomplete');
    expect(await steps()).toEqual([]);
  });

  it('is reported along with the missing payments', async () => {
    await paid('a', 10);
    const [result, reasons, found] = await run([]);
    expect([result, reasons, found.length]).toEqual(['findings', ['listing_empty'], 1]);
  });
});

describe('a listing shorter than an earlier one', () => {
  useDatabase('of each test');

  it('makes a run incomplete, and closes nothing', async () => {
    expect((await run([OLD(), listed('stranger', 12)], { rows: 500 }))[0]).toBe('findings');
    expect(await run([OLD()], { rows: 499 })).toEqual([
      'incomplete',
      ['listing_shorter', 'listing_lacks_known'],
      [],
    ]);
    expect(await steps()).toEqual([]);
    expect(await run([OLD()], { rows: 500 })).toEqual(['incomplete', ['listing_lacks_known'], []]);
    expect(await steps()).toEqual([]);
  });

  it('makes a run incomplete if only its period is shorter', async () => {
    const window = [new Date(day - 1_000), new Date(day + DAY_MS)];
    const read = async (theirs: Theirs[], rows: number) => {
      const seen = await run(theirs, { rows, window });
      return [...seen.slice(0, 2), await steps()];
    };
    await paid('a', 10);
    const nameless = listed('b', 12, { upstream_ref: null }); // runs cannot look it up
    expect(await read([OLD(), listed('a', 11), nameless], 500)).toEqual(['findings', [], []]);
    expect(await read([OLD(), listed('a', 11)], 501)).toEqual(['incomplete', ['listing_shorter'], []]);
    expect(await read([OLD(), listed('a', 11), listed('c', 12)], 502)).toEqual([
      'findings',
      [],
      ['resolved'],
    ]);
  });

  it('is complete once a person resolved the missing transactions', async () => {
    await run([OLD(), listed('stranger', 12)]);
    await database.query(
      `INSERT INTO finding_step (id, finding_id, state, reason, impact_usd)
        SELECT $1, id, 'resolved', 'taken back', 10 FROM finding`,
      [uuidv7()],
    );
    expect(await run([OLD()])).toEqual(['clean', [], []]);
  });

  it('is complete if the missing transactions were deleted', async () => {
    await run([OLD()], { rows: 500 });
    const deletion = { call_id: uuidv7(), operation: 'POST /account/delete-unpaid-transaction', usd: null };
    await writeOurs(database, [{ ...deletion, at: new Date().toISOString(), kind: 'succeeded' }]);
    expect(await run([OLD()], { rows: 499 })).toEqual(['clean', [], []]);
    expect(await run([OLD()], { rows: 498 })).toEqual(['incomplete', ['listing_shorter'], []]);
  });
});

describe('calls in doubt', () => {
  useDatabase('of all tests');

  it.each<[string, Partial<Ours>]>([
    ['a payment without an outcome', { kind: null }],
    ['a payment whose outcome is unknown', { kind: 'unknown' }],
    ['a redemption whose outcome is unknown', { kind: 'unknown', operation: 'POST /redeem/airtime' }],
    ['a deletion without an outcome', { kind: null, operation: 'POST /account/delete-unpaid-transaction' }],
  ])('prevent a clean run: %s', async (_what, more) => {
    expect((await run([OLD()]))[0]).toBe('clean');
    await paid('doubt', 10, { ...more, upstream_ref: null });
    expect(await run([OLD()])).toEqual(['clean_with_doubts', [], []]);
    expect((await run([]))[0]).toBe('incomplete');
  });

  it('have no effect outside of the period', async () => {
    await paid('before', -20, { kind: 'unknown', upstream_ref: null });
    await paid('settled', 10, { kind: 'unknown', resolution: 'not_executed', upstream_ref: null });
    expect(await run([OLD()])).toEqual(['clean', [], []]);
  });
});
