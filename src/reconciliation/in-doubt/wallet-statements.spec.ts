import { Decimal } from 'decimal.js';
import * as fc from 'fast-check';
import { at } from '../../../test/support/reconciliation/generated-doubts';
import { StatementEntry, WalletStatement, WalletStatements } from './wallet-statements';

const AIRTIME = 'POST /payouts/airtime';

/** Returns a wallet that was opened empty, with its entries, newest first, and its balance. */
function walletOf(moves: { second: number; usd: number }[], type = 'airtime'): WalletStatement {
  let balance = new Decimal(0);
  const entries = moves.map(({ second, usd }): StatementEntry => {
    const before = balance;
    balance = before.plus(usd);
    return { at: at(second), before, after: balance };
  });
  return { id: `${type} wallet`, type, balance, entries: entries.toReversed() };
}

const statements = (wallets: WalletStatement[], walletOf: [string, string][] = []) =>
  new WalletStatements('read', wallets, new Map(walletOf));
const shows = (wallet: WalletStatement) => statements([wallet]).showNoDebitSince(at(0), AIRTIME);

const OPENED = { second: -100, usd: 50 };

describe('wallet statements', () => {
  it('show no debit if the newest entry is older', () => {
    expect(shows(walletOf([OPENED, { second: -10, usd: -5 }]))).toBe(true);
    expect(shows(walletOf([OPENED, { second: 0, usd: -5 }]))).toBe(false);
  });

  it('show no debit after credits only', () => {
    expect(shows(walletOf([OPENED, { second: 10, usd: 20 }]))).toBe(true);
    expect(shows(walletOf([{ second: 5, usd: 20 }]))).toBe(true); // The wallet was empty before.
  });

  it('prove nothing if they do not reach from the balance back to the time', () => {
    const wallet = walletOf([OPENED, { second: 10, usd: 20 }]);
    const [newest, oldest] = wallet.entries as [StatementEntry, StatementEntry];
    const broken: Partial<WalletStatement>[] = [
      { balance: new Decimal(69) },
      { balance: null },
      { entries: [] },
      { entries: [newest] },
      { entries: [oldest] },
      { entries: [{ ...newest, before: null }, oldest] },
      { entries: [{ ...newest, after: null }, oldest] },
      { entries: [{ ...newest, at: null }, oldest] },
      { entries: [newest, { ...oldest, after: new Decimal(49) }] },
    ];
    for (const change of broken) expect(shows({ ...wallet, ...change })).toBe(false);
    expect(shows(wallet)).toBe(true);
  });

  it('tolerate the noise of floats', () => {
    const wallet = walletOf([OPENED]);
    expect(shows({ ...wallet, balance: new Decimal('49.9999999999988') })).toBe(true);
  });

  it('must show no debit in every wallet, or in the wallet that the operation is paid from', () => {
    const wallets = [walletOf([OPENED]), walletOf([OPENED, { second: 5, usd: -1 }], 'momo')];
    expect(statements(wallets).showNoDebitSince(at(0), AIRTIME)).toBe(false);
    for (const name of ['airtime', 'airtime wallet']) {
      expect(statements(wallets, [[AIRTIME, name]]).showNoDebitSince(at(0), AIRTIME)).toBe(true);
    }
    expect(statements(wallets, [[AIRTIME, 'chi']]).showNoDebitSince(at(0), AIRTIME)).toBe(false);
    expect(statements([]).showNoDebitSince(at(0), AIRTIME)).toBe(false);
  });

  it('never hide a debit, wherever the upstream truncates its list', () => {
    const moves = fc.array(
      fc.record({ second: fc.integer({ min: -50, max: 50 }), usd: fc.integer({ min: -9, max: 9 }) }),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(moves, fc.nat({ max: 12 }), (drawn, listed) => {
        const ordered = drawn.toSorted((one, other) => one.second - other.second);
        const wallet = walletOf([OPENED, ...ordered]);
        const shown = shows({ ...wallet, entries: wallet.entries.slice(0, listed) });
        const isDebited = ordered.some(({ second, usd }) => second >= 0 && usd < 0);
        expect(shown && isDebited).toBe(false);
        if (listed > ordered.length) expect(shown).toBe(!isDebited);
      }),
    );
  });
});
