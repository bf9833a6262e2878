import {
  at,
  DAY_MS,
  day,
  listed,
  OLD,
  paid,
  run,
  steps,
  useDatabase,
  wallets,
} from '../../support/reconciliation/listing-scene';
import { WalletEntry } from '../../support/reconciliation/wallets';

describe('a wallet entry without a transaction', () => {
  useDatabase('of all tests');

  const name = (seconds: number) =>
    `unexplained_debit wallet/w/${at(seconds).replace('.000Z', '.000000Z')} 0`;

  it('is a finding if the wallet lost value, and closes once a transaction explains it', async () => {
    await paid('a', 10);
    const walletsReadId = await wallets({
      w: [
        ['95', '5', '100', -60],
        ['100', '-10', '90', 11],
        ['90', '-7', '83', 20],
        ['83', '5', '88', 30, 'top-up'],
      ],
    });
    expect(await run([OLD(), listed('a', 11)], { walletsReadId })).toEqual(['findings', [], [name(20)]]);
    expect(await run([OLD(), listed('a', 11)])).toEqual(['clean', [], []]); // no wallet was read
    expect(await steps()).toEqual([]);
    await paid('b', 20, { usd: '7' });
    const both = [OLD(), listed('a', 11), listed('b', 20, { amount_usd: '7' })];
    expect(await run(both, { walletsReadId })).toEqual(['clean', [], []]);
    expect(await steps()).toEqual(['resolved']);
  });

  it('is judged by the balances, whatever the sign of its amount', async () => {
    const walletsReadId = await wallets({
      w: [
        ['100', '10', '90', 11],
        ['90', '-5', '95', 20],
      ],
    });
    expect(
      (await run([OLD()], { walletsReadId }))[2].filter((line) => line.startsWith('unexplained_debit')),
    ).toEqual([name(11)]);
  });

  it('stays open when the wallet no longer shows its time', async () => {
    const walletsReadId = await wallets({ w: [['100', '-7', '93', 20]] });
    expect((await run([OLD()], { walletsReadId }))[0]).toBe('findings');
    const later = await wallets({ w: [['93', '1', '94', 40, 'top-up']] });
    expect(await run([OLD()], { walletsReadId: later })).toEqual([
      'clean_with_doubts',
      ['entries_start_late'],
      [],
    ]);
    expect(await steps()).toEqual([]);
  });

  it('is ignored in another period', async () => {
    const walletsReadId = await wallets({
      w: [
        ['100', '-7', '93', -20],
        ['93', '-7', '86', DAY_MS / 1_000],
      ],
    });
    expect((await run([OLD()], { walletsReadId }))[0]).toBe('clean');
  });
});

describe('the entries of a wallet', () => {
  useDatabase('of each test');

  it.each<[string, WalletEntry[], string[]]>([
    ['begin before the period', [['5', '1', '6', -20, 'top-up']], []],
    ['begin at zero', [['0', '6', '6', 20, 'top-up']], []],
    ['begin within the period', [['5', '1', '6', 20, 'top-up']], ['entries_start_late']],
    ['begin after the period', [['5', '1', '6', 90_000, 'top-up']], ['entries_start_late']],
  ])('are complete or leave doubts when they %s', async (_what, entries, reasons) => {
    const walletsReadId = await wallets({ w: entries });
    const result = reasons.length === 0 ? 'clean' : 'clean_with_doubts';
    expect((await run([OLD()], { walletsReadId })).slice(0, 2)).toEqual([result, reasons]);
  });

  it('leave doubts if they are empty despite a balance', async () => {
    const walletsReadId = await wallets({ w: [] }, undefined, '6');
    expect((await run([OLD()], { walletsReadId }))[1]).toEqual(['entries_start_late']);
    expect((await run([OLD()], { walletsReadId: await wallets({ w: [] }) }))[1]).toEqual([]);
  });

  it('make the run incomplete if an earlier reading showed a newer one, and close nothing', async () => {
    const old: WalletEntry[] = [['0', '100', '100', -60, 'top-up']];
    const walletsReadId = await wallets({ w: [...old, ['100', '-7', '93', 20]] });
    expect((await run([OLD()], { walletsReadId }))[0]).toBe('findings');
    expect(await run([OLD()], { walletsReadId: await wallets({ w: old }) })).toEqual([
      'incomplete',
      ['entries_outdated'],
      [],
    ]);
    expect(await steps()).toEqual([]);
  });

  it('make the run incomplete if they lack a much older payout', async () => {
    const walletsReadId = await wallets({ w: [['0', '100', '100', -60, 'top-up']] });
    await paid('a', 10);
    expect((await run([OLD(), listed('a', 11)], { walletsReadId }))[1]).toEqual(['entries_outdated']);
    const justRead = await wallets({ w: [['0', '100', '100', -60, 'top-up']] }, new Date(day + 60_000));
    expect((await run([OLD(), listed('a', 11)], { walletsReadId: justRead }))[1]).toEqual([]);
  });
});

describe('a payout that finally moved no money', () => {
  useDatabase('of each test');
  const debit = (seconds: number) =>
    `unexplained_debit wallet/w/${at(seconds).replace('.000Z', '.000000Z')} 0`;
  const OPENED: WalletEntry = ['0', '100', '100', -60, 'top-up'];
  const failed = (more: object = {}) => listed('a', 11, { status: 'failed', ...more });
  const found = async (theirs: ReturnType<typeof failed>[], entries: WalletEntry[]) => {
    const walletsReadId = await wallets({ w: [OPENED, ...entries] });
    return (await run([OLD(), ...theirs], { walletsReadId }))[2].filter((line) =>
      line.startsWith('unexplained'),
    );
  };

  it('explains no loss unless the money returns, at any time', async () => {
    const taken: WalletEntry = ['100', '-10', '90', 12];
    expect(await found([failed()], [taken])).toEqual([debit(12)]);
    expect(await found([failed()], [taken, ['90', '10', '100', 2 * 86_400]])).toEqual([]);
  });

  it('may keep its fee', async () => {
    const [taken, back]: WalletEntry[] = [
      ['100', '-10.2', '89.8', 12],
      ['89.8', '10', '99.8', 20],
    ];
    expect(await found([failed({ fee_usd: '0.2' })], [taken!, back!])).toEqual([]);
  });

  it('releases no more than its own part of a batch', async () => {
    const both = [failed({ batch_ref: 'both' }), listed('b', 11, { amount_usd: '4', batch_ref: 'both' })];
    const taken: WalletEntry = ['100', '-14', '86', 12];
    expect(await found(both, [taken])).toEqual([debit(12)]);
    expect(await found(both, [taken, ['86', '10', '96', 30]])).toEqual([]);
  });

  it('returns by a listed refund', async () => {
    const refund = listed('back', 30, { type: 'refund', email: 'a@example.com' });
    const entries: WalletEntry[] = [
      ['100', '-10', '90', 12],
      ['90', '10', '100', 30],
    ];
    expect(await found([listed('a', 11, { status: 'refunded' }), refund], entries)).toEqual([]);
  });
});
