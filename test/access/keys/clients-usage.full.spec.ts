import { Decimal } from 'decimal.js';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { startProxy, TestProxy } from '../../support/processes/proxy';

describe('the cap usage of clients', () => {
  let proxy: TestProxy;
  let admin: string;
  let days: { today: string; another: string; nextDay: Date; nextMonth: Date };

  beforeAll(async () => {
    proxy = await startProxy({ upstreamBaseUrl: 'http://127.0.0.1:1' });
    admin = (await proxy.client('admin', 'admin')).key;
    days = daysAround(new Date());
  });
  afterAll(() => proxy.close());

  const create = (name: string, daily: number | null, monthly: number | null) =>
    proxy.app.get(ClientsService, { strict: false }).create(name, ['pay'], {
      dailyCapUsd: daily === null ? null : new Decimal(daily),
      monthlyCapUsd: monthly === null ? null : new Decimal(monthly),
    });
  const spend = (id: string, day: string, usd: string) =>
    proxy.database.query('INSERT INTO spending (client_id, day, usd) VALUES ($1, $2, $3)', [id, day, usd]);
  const ask = async <const Path extends string>(path: Path, key = admin) =>
    (await proxy.get(key, path).expect(200)).body;
  const usages = async () => {
    const { clients } = await ask('/v1/clients');
    return Object.fromEntries(clients.map(({ name, usage }) => [name, usage]));
  };

  it('is equal in the list and in each client', async () => {
    const shop = await create('shop', 10, 20);
    const lowered = await create('lowered', 5, null);
    const idle = await create('idle', null, 7);
    await spend(shop.id, days.today, '3.500001');
    await spend(shop.id, days.another, '1.25');
    await spend(lowered.id, days.today, '6');
    const resetsAt = { day: days.nextDay.toISOString(), month: days.nextMonth.toISOString() };

    const listed = await usages();
    expect(listed).toEqual({
      admin: {
        daily: { cap_usd: null, spent_usd: '0', left_usd: null, resets_at: resetsAt.day },
        monthly: { cap_usd: null, spent_usd: '0', left_usd: null, resets_at: resetsAt.month },
      },
      shop: {
        daily: { cap_usd: '10', spent_usd: '3.500001', left_usd: '6.499999', resets_at: resetsAt.day },
        monthly: { cap_usd: '20', spent_usd: '4.750001', left_usd: '15.249999', resets_at: resetsAt.month },
      },
      lowered: {
        daily: { cap_usd: '5', spent_usd: '6', left_usd: '0', resets_at: resetsAt.day },
        monthly: { cap_usd: null, spent_usd: '6', left_usd: null, resets_at: resetsAt.month },
      },
      idle: {
        daily: { cap_usd: null, spent_usd: '0', left_usd: null, resets_at: resetsAt.day },
        monthly: { cap_usd: '7', spent_usd: '0', left_usd: '7', resets_at: resetsAt.month },
      },
    });
    for (const { name, key } of [shop, lowered, idle]) {
      const { daily, monthly } = await ask('/v1/limits', key);
      expect([name, listed[name]]).toEqual([name, { daily, monthly }]);
      expect((await ask(`/v1/clients/${name}`)).usage).toEqual(listed[name]);
    }
  });

  it('excludes other months', async () => {
    const { id, name } = await create('months', 10, 10);
    await spend(id, new Date(days.nextMonth).toISOString().slice(0, 10), '4');
    await spend(id, '2020-02-29', '5');
    expect((await usages())[name]).toMatchObject({ daily: { spent_usd: '0' }, monthly: { spent_usd: '0' } });
  });
});

/** Returns today, another day of its month, and the starts of the next day and month, in UTC. */
function daysAround(now: Date) {
  const [year, month, date] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10);
  return {
    today: dayOf(now.getTime()),
    another: dayOf(Date.UTC(year, month, date === 1 ? 2 : 1)),
    nextDay: new Date(Date.UTC(year, month, date + 1)),
    nextMonth: new Date(Date.UTC(year, month + 1, 1)),
  };
}
