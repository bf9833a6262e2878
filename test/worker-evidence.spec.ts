import { HeartbeatService } from '../src/platform/database/heartbeat.service';
import { FakeUpstream } from './support/fake-upstream';
import { AIRTIME, eventually } from './support/paying';
import { startProxy, TestProxy } from './support/proxy';

/** A worker has no file of what it has seen, but it sees every second of its own heartbeats. */
describe('a database that comes back from the past', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  it('stops the proxies if only a worker has seen what is missing', async () => {
    const { key } = await proxy.client('app', 'pay');
    const worker = await proxy.startWorker();
    await worker.get(HeartbeatService).beat();
    await proxy.database.query('UPDATE instance SET beat = beat - 1 WHERE server IS NULL');
    await worker.get(HeartbeatService).beat();
    await eventually(async () => (await proxy.database.query('SELECT FROM stop')).length > 0);
    expect(await proxy.database.query('SELECT cause FROM stop')).toEqual([{ cause: 'database_behind' }]);
    expect((await proxy.post(key, '/payouts/airtime', AIRTIME).expect(503)).body.code).toBe('stopped');
    expect(upstream.received).toEqual([]);
  });
});
