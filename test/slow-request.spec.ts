import { FakeUpstream } from './support/fake-upstream';
import { startProxy } from './support/proxy';

/** Requests that are begun and never finished. */
describe('a request that never ends', () => {
  it('has its time, after which Node gives its place to others', async () => {
    const upstream = await FakeUpstream.start();
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    const { requestTimeout, headersTimeout } = proxy.app.getHttpServer();
    expect(requestTimeout).toBe(60_000);
    expect(headersTimeout).toBe(60_000);
    await proxy.close();
    await upstream.stop();
  });
});
