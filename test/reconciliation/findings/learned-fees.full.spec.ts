import { HeartbeatService } from '../../../src/continuity/heartbeat/heartbeat.service';
import { hang } from '../../support/network/fake-upstream';
import { FEE_OPERATION, FeeScene, paysFor } from '../../support/payments/fee-scene';
import { eventually } from '../../support/payments/paying';
import { TestProxy } from '../../support/processes/proxy';

/** Promise 3: no request within its cap is refused, and fees exceed no cap for long. */
describe('a fee that is not configured', () => {
  let scene: FeeScene;

  beforeEach(async () => void (scene = await FeeScene.start()));
  afterEach(() => scene.close());

  it('is expected once three calls were charged it, on every instance and after a restart', async () => {
    const [one, other] = [await scene.running(), await scene.running()];
    const { id, key } = await scene.client(one, 100);
    scene.upstream.behaviour = paysFor(0.05);
    for (const proxy of [one, other, one]) {
      expect(await scene.expected(other, key, 0.5)).toBeNull();
      await scene.pay(proxy, key, 0.5).expect(200);
    }
    expect(await scene.spent(id)).toBe('1.65');
    scene.upstream.behaviour = hang;
    await scene.pay(other, key, 0.5).expect(504);
    expect(await scene.spent(id)).toBe('2.2');
    const restarted = await scene.running();
    for (const proxy of scene.proxies) expect(await scene.expected(proxy, key, 0.5)).toBe('0.05');
    await scene.pay(restarted, key, 0.5).expect(504);
    expect(await scene.spent(id)).toBe('2.75');
    const { text } = await one.get(key, '/metrics');
    expect(text).toContain(`payout_proxy_unexpected_fees_total{operation="${FEE_OPERATION}"} 2`);
  });

  it('of three items of one call was charged to one call', async () => {
    const proxy = await scene.running();
    const { key } = await scene.client(proxy, 100);
    scene.upstream.behaviour = paysFor(0.05);
    await scene.payTimes(2, proxy, key, 0.5, 0.6, 0.7);
    expect(await scene.expected(proxy, key, 0.5)).toBeNull();
    await scene.pay(proxy, key, 0.5).expect(200);
    expect(await scene.expected(proxy, key, 0.5)).toBe('0.05');
  });

  it.each([
    ['as large as its payout', 0.05],
    ['that is rounding', 0.000001],
  ])('%s leaves the cap to larger payouts', async (_name, usd) => {
    const proxy = await scene.running();
    const { key } = await scene.client(proxy, 100);
    await scene.pay(proxy, key, 1).expect(200);
    scene.upstream.behaviour = paysFor(usd);
    await scene.payTimes(3, proxy, key, usd);
    scene.upstream.behaviour = paysFor();
    await scene.pay(proxy, key, 60).expect(200);
  });

  it('is that of the account, and of the last 30 days', async () => {
    const proxy = await scene.running();
    const { key } = await scene.client(proxy, 100);
    const charge = (account: string, daysAgo: number) =>
      scene.database.query(
        `INSERT INTO call_fee (account, operation, size_usd, call_id, day, usd)
         SELECT $1, $2, 0.5, gen_random_uuid(), (now() AT TIME ZONE 'UTC')::date - $3::int, 0.05
         FROM generate_series(1, 3)`,
        [account, FEE_OPERATION, daysAgo],
      );
    await charge('kenya', 0);
    await charge('main', 31);
    expect(await scene.expected(proxy, key, 0.5)).toBeNull();
    await charge('main', 30);
    expect(await scene.expected(proxy, key, 0.5)).toBe('0.05');
  });

  it('is learned anew by an instance that knew more fees than a restored database', async () => {
    const [one, other] = [await scene.running(), await scene.running()];
    const { id, key } = await scene.client(one, 100);
    scene.upstream.behaviour = paysFor(0.02);
    await scene.payTimes(3, one, key, 1);
    expect(await scene.expected(one, key, 1)).toBe('0.02');
    await scene.database.query('DELETE FROM call_fee');
    await scene.database.query('ALTER TABLE call_fee ALTER number RESTART');
    await scene.database.query(
      `INSERT INTO epoch (number, reason) SELECT max(number) + 1, 'recovered' FROM epoch`,
    );
    const epochs = new Map<TestProxy, number>();
    for (const proxy of scene.proxies)
      proxy.app.get(HeartbeatService).observe(({ epoch }) => epochs.set(proxy, epoch));
    await eventually(() => scene.proxies.every((proxy) => epochs.get(proxy) === 2));
    scene.upstream.behaviour = paysFor(0.1);
    await scene.payTimes(3, other, key, 1);
    scene.upstream.behaviour = hang;
    await scene.pay(one, key, 1).expect(504);
    expect(await scene.spent(id)).toBe('7.46');
  });

  it('is expected to be at most its payout, because more is an upstream error', async () => {
    const proxy = await scene.running();
    const { id, key } = await scene.client(proxy, 10_000);
    scene.upstream.behaviour = paysFor(500);
    await scene.payTimes(3, proxy, key, 1);
    expect(await scene.spent(id)).toBe('1503');
    scene.upstream.behaviour = hang;
    await scene.pay(proxy, key, 1).expect(504);
    expect(await scene.spent(id)).toBe('1505');
    await scene.pay(proxy, key, 10).expect(504);
    expect(await scene.spent(id)).toBe('1516');
  });

  it('leaves the whole cap to payouts if none is expected', async () => {
    const proxy = await scene.running();
    const { id, key } = await scene.client(proxy, 3);
    await scene.pay(proxy, key, 3).expect(200);
    expect(await scene.spent(id)).toBe('3');
  });
});
