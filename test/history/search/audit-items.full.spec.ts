import { Decimal } from 'decimal.js';
import { CallRecord } from '../../../src/history/records/record.dto';
import { RecordsService } from '../../../src/history/records/records.service';
import { canonicalCountry, countryName } from '../../../src/recipients/country-name';
import { makeUpHistory } from '../../support/databases/history';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** Compares payouts and sums of the history with its records. */
describe('the list of payouts in the history', () => {
  let proxy: TestProxy;
  let auditor: string;
  let seeing: string;
  let calls: CallRecord[];
  /** Newest record before the test's own requests. */
  const before = new Date(Date.now() - 30_000).toISOString();

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    ({ key: auditor } = await proxy.client('auditor', 'audit'));
    ({ key: seeing } = await proxy.client('seeing', 'audit', 'audit:pii'));
    await makeUpHistory(proxy.database, { calls: 400, days: 5 });
    const records = proxy.app.get(RecordsService, { strict: false });
    const ids = await proxy.database.query(
      'SELECT id::text FROM intent UNION SELECT id::text FROM refusal ORDER BY 1 DESC',
    );
    calls = await records.list(
      ids.map(({ id }) => id as string),
      true,
    );
  });
  afterAll(() => proxy.close());

  const get = async <const Path extends string>(path: Path, key = seeing) =>
    (await proxy.get(key, `/v1/audit/${path}`).expect(200)).body;

  it('shows each payout with the fields of its call', async () => {
    const { items } = await get('items?page_size=200&operation=POST%20/payouts/credit');
    const wanted = calls
      .filter(({ operation }) => operation === 'POST /payouts/credit')
      .flatMap(({ items: all, upstream, ...call }) => {
        const { other_items: others, ...answer } = upstream ?? { other_items: [] };
        expect(Array.isArray(others)).toBe(true);
        return all.toReversed().map((item) => ({ ...call, item, upstream: upstream && answer }));
      });
    expect(items).toEqual(JSON.parse(JSON.stringify(wanted)));
    expect(items.length).toBeGreaterThan(20);
  });

  it('masks people like the list of calls', async () => {
    const { items } = await get('items?page_size=200', auditor);
    const shown = items.map(({ item }) => item.recipient);
    expect(shown.some(({ phone }) => phone !== null)).toBe(true);
    for (const { email, phone, handle } of shown) {
      for (const contact of [email, phone, handle]) expect(contact ?? '••').toContain('••');
    }
  });

  it('finds payouts by their transaction, and a call by an unassigned transaction', async () => {
    const sure = calls.flatMap((call) =>
      call.items.filter((item) => item.upstream).map((item) => ({ id: call.id, item })),
    )[0];
    const { items } = await get(`items?upstream_ref=${sure?.item.upstream?.upstream_ref}`);
    expect(items.map(({ id, item }) => [id, item.position])).toEqual([[sure?.id, sure?.item.position]]);
    const unsure = calls.find(({ upstream }) => (upstream?.other_items.length ?? 0) > 0);
    const ref = unsure?.upstream?.other_items[0]?.upstream_ref;
    expect((await get(`items?upstream_ref=${ref}`)).items).toEqual([]);
    expect((await get(`calls?upstream_ref=${ref}`)).calls.map(({ id }) => id)).toEqual([unsure?.id]);
    const reference = unsure?.items[0]?.country ?? '';
    expect((await get(`calls?upstream_ref=${ref}&country=${reference}`)).calls).toHaveLength(
      reference === '' ? 0 : 1,
    );
  });

  it('rejects a page token of another list or sort order', async () => {
    const { next_page_token: token } = await get('items?page_size=1&sort=amount');
    expect((await get(`items?page_size=1&sort=amount&page_token=${token}`)).items).toHaveLength(1);
    for (const path of [`items?page_token=${token}`, `calls?sort=amount&page_token=${token}`] as const) {
      const { body } = await proxy.get(seeing, `/v1/audit/${path}`).expect(400);
      const by = path.startsWith('items') ? 'items by time' : 'calls by amount';
      expect(body.errors).toEqual([
        {
          pointer: '/page_token',
          detail: `must be the next_page_token of a list of ${by}. This token is for items by amount`,
        },
      ]);
    }
  });

  const dayOf = ({ timings }: CallRecord) => timings.received_at.toISOString().slice(0, 10);
  const sum = (values: (string | null)[]) =>
    values.reduce((all, usd) => all.plus(usd ?? 0), new Decimal(0)).toFixed();
  const at = (share: number, sorted: number[]) => sorted[Math.ceil(sorted.length * share) - 1] ?? null;

  /** The states of payouts in each sum. */
  const SUMMED: Record<string, string[]> = {
    paid_usd: ['paid'],
    pending_usd: ['held', 'reserved', 'in_doubt', 'pending'],
    returned_usd: ['failed', 'reversed', 'refunded'],
    not_executed_usd: ['not_executed'],
  };

  /** Returns the group of calls and their matching payouts. */
  function count(counted: CallRecord[]) {
    const times = counted
      .flatMap(({ upstream, timings }) => (upstream?.answer_of ? [] : (timings.upstream_ms ?? [])))
      .sort((a, b) => a - b);
    const items = counted.flatMap((call) => call.items);
    return {
      calls: counted.length,
      items: items.length,
      asked_usd: sum(items.map((item) => item.amount_usd)),
      ...Object.fromEntries(
        Object.entries(SUMMED).map(([name, states]) => [
          name,
          sum(items.filter(({ state }) => states.includes(state ?? '')).map((item) => item.amount_usd)),
        ]),
      ),
      fees_usd: sum(items.map((item) => item.fee_usd)),
      upstream_ms: { p50: at(0.5, times), p95: at(0.95, times), p99: at(0.99, times) },
    };
  }

  it.each([
    ['day', '', (call: CallRecord) => dayOf(call)],
    ['day', '&outcome=rejected', (call: CallRecord) => dayOf(call)],
    ['client', '&operation=POST%20/payouts/airtime', (call: CallRecord) => call.client.id],
    ['operation', '&client=shop', (call: CallRecord) => call.operation],
    ['outcome', '', (call: CallRecord) => call.outcome],
    ['outcome', '&in_doubt=true&min_total_usd=1', (call: CallRecord) => call.outcome],
  ])('counts by %s (%s)', async (by, filters, groupOf) => {
    const asked = new URLSearchParams(filters);
    const wanted = calls.filter(
      (call) =>
        (asked.get('outcome') ?? call.outcome) === call.outcome &&
        (asked.get('operation') ?? call.operation) === call.operation &&
        (asked.get('client') ?? call.client.name) === call.client.name &&
        (asked.get('in_doubt') === null || call.outcome === 'unknown') &&
        new Decimal(call.total_usd ?? -1).gte(asked.get('min_total_usd') ?? -1),
    );
    const { groups, cut } = await get(`summary?group_by=${by}${filters}&to=${before}`);
    const names = [...new Set(wanted.map(groupOf))];
    expect(groups.map(({ group }) => group).sort()).toEqual(names.sort());
    for (const { group, name, ...numbers } of groups) {
      const counted = wanted.filter((call) => groupOf(call) === group);
      expect(numbers).toEqual(count(counted));
      expect(name).toBe(by === 'client' ? counted[0]?.client.name : null);
    }
    expect(cut).toBe(false);
    expect(groups.length).toBeGreaterThan(0);
  });

  it('counts each call in each country that it pays, with the amount paid there', async () => {
    const { groups } = await get('summary?group_by=country&client=shop');
    const shops = calls.filter(({ client }) => client.name === 'shop');
    for (const { group, name, ...numbers } of groups) {
      expect(name).toBe(group === null ? null : countryName(group));
      const there = shops
        .map((call) => ({
          ...call,
          items: call.items.filter(({ country }) => (country && canonicalCountry(country)) === group),
        }))
        .filter(
          ({ id, items }) =>
            items.length > 0 || (group === null && calls.find((call) => call.id === id)?.items.length === 0),
        );
      expect([group, numbers]).toEqual([group, count(there)]);
    }
    expect(groups.map(({ group }) => group)).toEqual(expect.arrayContaining(['NG', 'KE', null]));
  });
});
