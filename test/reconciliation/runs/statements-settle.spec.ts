import { loadConfig } from '../../../src/platform/config/config';
import { momoItem } from '../../support/http/interface';
import supertest from '../../support/http/supertest';
import { reset } from '../../support/network/fake-upstream';
import { answersWith, LyingLedger, Transaction } from '../../support/reconciliation/lying-ledger';
import { reconcile, untilNow } from '../../support/reconciliation/reconciliation-scene';

const MAPPING = {
  upstream_ref: 'Name',
  amount_usd: 'Amount',
  issued_at: 'Date',
  status: 'State',
  reference: 'Reference',
  phone: 'To',
};

/** A statement has rows of lost payouts, whose references are our IDs. */
describe.each([true, false])('a run over a statement, with settling %s', (statementsSettle) => {
  let ledger: LyingLedger;
  let reconciler: string;
  let count = 0;

  beforeAll(async () => {
    ledger = await LyingLedger.start({
      checkCoverage: false,
      duplicateGuard: false,
      resolverEverySeconds: 0,
      followUpEverySeconds: 0,
      reconciliation: { ...loadConfig({}).reconciliation, statementsSettle },
    });
    ledger.transactions = [];
    ledger.quiet({ quietMs: 0 });
    reconciler = (await ledger.paying.proxy.client('reconciler', 'reconcile', 'audit:pii')).key;
  });
  afterAll(() => ledger.paying.close());

  const item = momoItem();
  const { phoneNumber, valueInUSD } = item as Pick<Transaction, 'phoneNumber' | 'valueInUSD'>;
  const shown = (more: Partial<Transaction> = {}) =>
    ledger.shown({ type: 'mobile_money', phoneNumber, valueInUSD: 3, ...more });
  const pay = async (behaviour = reset, more: object = {}) => {
    ledger.behaviour = behaviour;
    const { proxy, app } = ledger.paying;
    const { headers } = await proxy.post(app, '/payouts/mobile-money', { momos: [{ ...item, ...more }] });
    return headers['x-call-id'] ?? '';
  };
  /** Lets the resolver find that payouts in doubt are not listed. */
  const resolve = async () => {
    const later = shown(); // shows that the listing is current
    await pay(answersWith(later), { valueInUSD: 3 });
    ledger.transactions.push(shown({ issueDate: '2026-01-01T00:00:00Z' }), later);
    await ledger.round();
  };
  const row = (call: string, more: object = {}) => ({
    Name: `lost-${(count += 1)}`,
    Amount: String(valueInUSD),
    Date: new Date().toISOString(),
    State: 'paid',
    Reference: `${call}.0`,
    To: phoneNumber,
    ...more,
  });
  const importRows = async (rows: ReturnType<typeof row>[]) => {
    const file = [Object.values(MAPPING), ...rows.map((one) => Object.values(one))].join('\n');
    const { body } = await supertest(ledger.paying.proxy.url)
      .post('/v1/reconciliation/statements')
      .query({ mapping: JSON.stringify(MAPPING) })
      .set({ 'X-API-Key': reconciler, 'Content-Type': 'text/csv' })
      .send(file)
      .expect(201);
    return body.read_id;
  };
  /** Returns the categories of findings. */
  const run = async (statement: string) => {
    const asking = { url: ledger.paying.proxy.url, key: reconciler };
    const { totals } = await reconcile(asking, { ...untilNow(), statement_id: statement });
    return Object.keys(totals?.findings.by_category ?? {});
  };
  const settlementsOf = (call: string) =>
    ledger.paying.proxy.database.query(
      `SELECT record::json ->> 'source' AS source, record::json #>> '{reads,0}' AS read
        FROM settlement WHERE intent_id = $1`,
      [call],
    );

  if (!statementsSettle) {
    it('settles nothing', async () => {
      const call = await pay();
      await run(await importRows([row(call)]));
      expect(await ledger.stateOf(call)).toBe('in_doubt');
      expect(await settlementsOf(call)).toEqual([]);
    });
    return;
  }

  // The first test, because the listing of the others lacks earlier transactions.
  it('settles a payout that was not executed, unless that was settled after the import', async () => {
    const before = await pay();
    await resolve();
    const after = await pay();
    const statement = await importRows([row(before), row(after)]);
    await resolve();
    expect(await ledger.statesOf(before, after)).toEqual(['not_executed', 'not_executed']);
    expect(await run(statement)).toContain('status');
    expect(await ledger.statesOf(before, after)).toEqual(['paid', 'not_executed']);
  });

  it('settles a payout in doubt by its certain match', async () => {
    const call = await pay();
    const statement = await importRows([row(call)]);
    await run(statement);
    expect(await ledger.stateOf(call)).toBe('paid');
    expect(await settlementsOf(call)).toEqual([{ source: 'reconciliation', read: statement }]);
  });

  it('leaves a settled payout to the listing, which shows it later', async () => {
    const call = await pay();
    const one = row(call);
    const statement = await importRows([one]);
    await run(statement);
    expect(await ledger.stateOf(call)).toBe('paid');
    const { Name: chiRef, Date: issueDate, Reference: reference } = one;
    ledger.transactions = [
      shown({ chiRef, issueDate, reference, phoneNumber, valueInUSD, status: 'reversed' }),
    ];
    await ledger.followUp();
    expect(await ledger.stateOf(call)).toBe('reversed');
    expect(await run(statement)).toContain('status');
    expect(await ledger.stateOf(call)).toBe('reversed');
  });

  it.each<[string, object, string[]]>([
    ['is no certain match', { Reference: '' }, []],
    ['gives the amount back', { State: 'failed' }, []],
    ['has no status word', { State: '' }, []],
    ['has another recipient', { To: '+254712345699' }, ['recipient']],
    ['has another amount', { Amount: '77' }, ['amount_over']],
  ])('changes nothing if the row %s', async (_, difference, findings) => {
    const call = await pay();
    const found = await run(await importRows([row(call, difference)]));
    expect(await ledger.stateOf(call)).toBe('in_doubt');
    expect(found).toEqual(expect.arrayContaining(findings));
  });

  it('changes nothing about a payout whose transaction is in the book', async () => {
    const named = shown({ phoneNumber, valueInUSD });
    const call = await pay(answersWith(named));
    const found = await run(await importRows([row(call, { Name: named.chiRef, State: 'failed' })]));
    expect(found).toContain('status');
    expect(await ledger.stateOf(call)).toBe('paid');
  });
});
