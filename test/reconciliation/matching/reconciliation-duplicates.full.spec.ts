import { v7 as uuidv7 } from 'uuid';
import { TestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { runPlan, startRun, Theirs, writeListing, writeOurs } from '../../support/reconciliation/comparison';
import {
  at,
  database,
  day,
  DAY_MS,
  listed,
  OLD,
  run,
  useDatabase,
} from '../../support/reconciliation/listing-scene';
import { PLANTED_SETTINGS } from '../../support/reconciliation/planted-findings';

/** Writes a call of two payouts, `first` and `second`. @returns its ID. */
async function twoPaid(to: TestDatabase): Promise<string> {
  const call_id = uuidv7({ msecs: day + 10_000 });
  const ours = {
    call_id,
    operation: 'POST /payouts/credit',
    at: at(10),
    kind: 'succeeded',
    usd: '10',
  } as const;
  const payout = (name: string) => ({
    ...ours,
    email: `${name}@example.com`,
    upstream_ref: name,
    upstream_id: `id-${name}`,
  });
  await writeOurs(to, [payout('first'), payout('second')]);
  return call_id;
}
const BOTH = () => [
  OLD(),
  listed('first', 11, { upstream_id: 'id-first' }),
  listed('second', 11, { upstream_id: 'id-second' }),
];
const SECOND = { email: 'second@example.com' };

describe('a duplicate', () => {
  useDatabase('of each test');

  const found = async (theirs: Theirs[]) => {
    await run([...BOTH(), ...theirs]);
    return database.query(
      `SELECT f.category, f.call_id, f.position, s.evidence -> 'twin' ->> 'call_id' AS call,
         (s.evidence -> 'twin' ->> 'position')::int AS item, s.evidence -> 'twin' ->> 'upstream_ref' AS ref,
         s.fields -> 2 AS field
       FROM finding f JOIN finding_sight s ON s.finding_id = f.id ORDER BY f.subject`,
    );
  };
  const twinOf = (call: string | null, item: number | null, ref: string) => ({
    call_id: call,
    position: item,
    call,
    item,
    ref,
    field: { field: 'duplicate_of', ours: call === null ? null : `${call}/${item}`, theirs: ref },
  });

  it.each<[string, () => Theirs[]]>([
    ['has its reference', () => [listed('second', 700)]],
    ['has its ID', () => [listed('other', 700, { upstream_id: 'id-second', email: 'other@example.com' })]],
    ['has the same recipient and amount at about the same time', () => [listed('again', 60, SECOND)]],
    ['is not the only one', () => [listed('second', 700), listed('second', 800)]],
  ])('names the payment that it repeats if it %s', async (_why, duplicates) => {
    const theirs = duplicates();
    const call = await twoPaid(database);
    const twin = { category: 'duplicate_upstream', ...twinOf(call, 1, 'second') };
    expect(await found(theirs)).toEqual(theirs.map(() => twin));
  });

  it('names the nearest of several payments that look alike', async () => {
    const call = await twoPaid(database);
    expect(await found([listed('again', 60, SECOND)])).toMatchObject([twinOf(call, 1, 'second')]);
    const later = uuidv7({ msecs: day + 600_000 });
    const ours = { operation: 'POST /payouts/credit', at: at(600), kind: 'succeeded', usd: '10' } as const;
    await writeOurs(database, [{ call_id: later, ...ours, ...SECOND, upstream_ref: 'third' }]);
    const rows = [listed('third', 601, SECOND), listed('more', 620, SECOND)];
    expect(await found(rows)).toContainEqual({
      category: 'duplicate_upstream',
      ...twinOf(later, 0, 'third'),
    });
  });

  it('of an unknown transaction names that transaction', async () => {
    await twoPaid(database);
    const stranger = (seconds: number) => listed('stranger', seconds);
    expect(await found([stranger(20), stranger(800)])).toEqual([
      {
        category: 'missing_local',
        call_id: null,
        position: null,
        call: null,
        item: null,
        ref: null,
        field: null,
      },
      { category: 'duplicate_upstream', ...twinOf(null, null, 'stranger') },
    ]);
  });

  it('that was given back names its payment, too', async () => {
    const call = await twoPaid(database);
    const again = listed('again', 60, { ...SECOND, status: 'refunded' });
    expect(await found([again])).toEqual([{ category: 'refund', ...twinOf(call, 1, 'second') }]);
  });

  it('is no collection from the recipient of a payout', async () => {
    await twoPaid(database);
    const collected = listed('in', 60, { ...SECOND, type: 'payment' });
    expect(await found([collected])).toMatchObject([{ category: 'missing_local', call_id: null }]);
  });
});

describe('the API and the CSV', () => {
  let proxy: TestProxy;
  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:9' });
  });
  afterAll(() => proxy.close());

  it('show the payment that a duplicate repeats', async () => {
    const call = await twoPaid(proxy.database);
    const plan = await startRun(proxy.database, {
      from: new Date(day),
      to: new Date(day + DAY_MS),
      asOf: new Date(),
      historical: false,
      source: 'upstream',
      readId: await writeListing(proxy.database, [...BOTH(), listed('second', 700)]),
      walletsReadId: null,
      settings: { ...PLANTED_SETTINGS, feePercent: '0' },
    });
    await runPlan(proxy.database, plan);
    const { key } = await proxy.client('reconciler', 'reconcile');
    const { body } = await proxy.get(key, `/v1/reconciliation/findings?call_id=${call}`).expect(200);
    const finding = first(body.findings);
    const field = { field: 'duplicate_of', ours: `${call}/1`, theirs: 'second' };
    expect(finding).toMatchObject({ category: 'duplicate_upstream', call_id: call, position: 1 });
    expect(finding.fields).toContainEqual(field);
    const { body: one } = await proxy.get(key, `/v1/reconciliation/findings/${finding.id}`).expect(200);
    expect(one.evidence.twin).toMatchObject({
      call_id: call,
      position: 1,
      upstream_ref: 'second',
      ordinal: 2,
    });
    const { text } = await proxy.get(key, '/v1/reconciliation/findings.csv').expect(200);
    expect(text).toContain(`,amount_usd; status; duplicate_of,(none); (none); ${call}/1,10; paid; second,`);
  });
});
