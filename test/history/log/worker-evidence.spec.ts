import { HeartbeatService } from '../../../src/continuity/heartbeat/heartbeat.service';
import { eventually, PaymentScene, startPaying } from '../../support/payments/paying';

/** A worker has no epoch file, but compares its heartbeats every second. */
describe('a database restored to the past', () => {
  let paying: PaymentScene;
  beforeAll(async () => {
    paying = await startPaying();
  });
  afterAll(() => paying.close());

  it('stops the proxies if only a worker holds the evidence', async () => {
    const { database } = paying.proxy;
    const heartbeat = (await paying.proxy.startWorker()).get(HeartbeatService);
    await heartbeat.beat();
    await database.query('UPDATE instance SET beat = beat - 1 WHERE server IS NULL');
    await heartbeat.beat();
    await eventually(async () => (await database.query('SELECT FROM stop')).length > 0);
    expect(await database.query('SELECT cause FROM stop')).toEqual([{ cause: 'database_behind' }]);
    expect((await paying.pay().expect(503)).body.code).toBe('stopped');
    expect(paying.upstream.received).toEqual([]);
  });
});
