import { LyingLedger } from '../../support/reconciliation/lying-ledger';

/** An upstream that lists local times without an offset, which seem to be hours ahead or behind. */
describe('a listing in local time', () => {
  let ledger: LyingLedger;
  let number = 0;

  beforeAll(async () => {
    ledger = await LyingLedger.start();
    ledger.quiet({ quietMs: 0 });
  });
  afterAll(() => ledger.paying.close());

  const pay = async () => {
    const { headers } = await ledger.paying.pay(`+25471240000${(number += 1)}`);
    return headers['x-call-id'] ?? '';
  };
  /** Writes the times of all transactions in local text, some hours ahead. */
  const inLocalTime = (hours: number) => {
    for (const one of ledger.transactions) {
      const local = new Date(Date.parse(one.issueDate) + hours * 3_600_000);
      one.issueDate = local.toISOString().slice(0, 19).replace('T', ' ');
    }
  };
  const settle = async (id: string) => {
    await ledger.round();
    const { paying } = ledger;
    const { body } = await paying.proxy.get(paying.app, `/v1/calls/${id}`).expect(200);
    return body.doubt?.reason ?? body.outcome;
  };

  it('reaches back before a call if it has the transaction of an earlier answer', async () => {
    ledger.transactions.splice(0); // nothing is older by its own time
    await pay();
    ledger.lie = { status: 500, body: { status: 'error', error: 'no' }, pays: 'never' };
    const id = await pay();
    ledger.lie = undefined;
    await pay();
    inLocalTime(3);
    const earlier = ledger.transactions.splice(0, 1);
    expect(await settle(id)).toContain('has nothing older than this call');
    ledger.transactions.push(...earlier);
    expect(await settle(id)).toBe('not_executed');
  });

  it('keeps a rejected call in doubt whose transaction seems to be older', async () => {
    ledger.lie = { status: 400, body: { status: 'error', error: 'no' }, pays: 'now' };
    const id = await pay();
    inLocalTime(-5);
    expect(await settle(id)).toContain('lists transactions to a recipient of this call');
    expect(await settle(id)).toContain('lists transactions to a recipient of this call');
  });
});
