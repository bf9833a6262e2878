import fc from 'fast-check';
import { walletsIn } from './wallets';

const inEnvelope = (data: unknown) => walletsIn(Buffer.from(JSON.stringify({ status: 'success', data })));

const listOf = (data: unknown) => inEnvelope(data) ?? [];

describe('walletsIn', () => {
  it('reads a wallet and its entries, newest first', () => {
    const entry = (_seconds: number) => ({ amount: '-0.5', balanceBefore: 2, meta: { date: { _seconds } } });
    const [wallet] = listOf([
      {
        id: 'w',
        type: 'chi',
        balance: '1.50',
        transactions: [entry(1_763_632_801), 'x', entry(1_763_632_802)],
      },
    ]);
    expect(wallet).toMatchObject({ id: 'w', type: 'chi' });
    expect(wallet?.balance?.toFixed()).toBe('1.5');
    expect(wallet?.entries.map(({ enteredAt }) => enteredAt?.getTime())).toEqual([
      1_763_632_802_000, 1_763_632_801_000,
    ]);
    expect(wallet?.entries[0]).toMatchObject({ newBalance: null, description: null });
  });

  it('reads each wallet once, and none without an id', () => {
    expect(inEnvelope({ data: [{ id: 'w' }, { id: 'w', type: 'b' }, {}, null] })).toEqual([
      { id: 'w', type: 'b', balance: null, entries: [] },
    ]);
  });

  it('distinguishes a list without wallets from no list', () => {
    expect(inEnvelope([])).toEqual([]);
    expect(['x', null, {}, { data: {} }].map(inEnvelope)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('never throws on any bytes', () => {
    fc.assert(fc.property(fc.jsonValue(), (data) => Array.isArray(listOf(data))));
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (date, transactions) =>
        Array.isArray(
          inEnvelope([
            { id: 'w', transactions },
            { id: 'v', transactions: [{ meta: { date } }] },
          ]),
        ),
      ),
    );
  });
});
