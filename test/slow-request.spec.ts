import { connect } from 'node:net';
import { CallersService } from '../src/auth/callers.service';
import { JournalService } from '../src/journal/journal.service';
import { FakeUpstream } from './support/fake-upstream';
import { eventually } from './support/paying';
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

  it('is refused, and no fault of ours, when its connection ends', async () => {
    const upstream = await FakeUpstream.start();
    const proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    const { key } = await proxy.client('app', 'pay');
    const identified = jest.spyOn(proxy.app.get(CallersService, { strict: false }), 'identify');
    const refused = jest.spyOn(proxy.app.get(JournalService, { strict: false }), 'refuse');
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
    socket.write(`POST /api/v0.1/payouts/airtime HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`);
    socket.write('Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"airtimes":');
    await eventually(() => Promise.resolve(identified.mock.results.length === 1));
    await identified.mock.results[0]?.value;
    socket.destroy();
    await eventually(() => Promise.resolve(refused.mock.results.length === 1));
    await refused.mock.results[0]?.value;
    expect(await proxy.database.query('SELECT status, code, faults FROM refusal')).toEqual([
      { status: 400, code: 'invalid_request', faults: [{ pointer: '', detail: 'the body ended before it was whole' }] },
    ]);
    expect(upstream.received).toEqual([]);
    await proxy.close();
    await upstream.stop();
  });
});
