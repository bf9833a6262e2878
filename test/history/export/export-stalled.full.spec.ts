import { connect, Socket } from 'node:net';
import { ExportService } from '../../../src/history/export/export.service';
import { LOOK_EVERY_MS } from '../../../src/http/streams/stalled-answers';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** Size of an export above that of all buffers up to the client. A receiver's may have 32 MB on Linux. */
const ROWS = 1_500;
const ROW_TEXT = 30_000;

/** An export to a slow reader. */
describe('an export', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let auditor: string;
  let shortened: jest.SpyInstance;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    jest.spyOn(ExportService.prototype, 'covering').mockResolvedValue(null); // no waiting for the next one
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    ({ key: auditor } = await proxy.client('auditor', 'audit'));
    await proxy.database.query(
      `INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code,
         detail, faults, fault_count, received_at)
       SELECT uuidv7(), c.id, c.id, 'POST /send', 'r', '127.0.0.1', 400, 'invalid_request',
         repeat('x', $2::int), '[]', 0, now()
       FROM client c, generate_series(1, $1::int) WHERE c.name = 'auditor'`,
      [ROWS, ROW_TEXT],
    );
    // Until they are indexed.
    await eventually(async () => (await proxy.get(auditor, '/v1/audit/calls?page_size=1')).status === 200);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await proxy.close();
    await upstream.stop();
  });
  beforeEach(() => {
    const { setTimeout: real } = global;
    shortened = jest
      .spyOn(global, 'setTimeout')
      .mockImplementation((run: () => void, ms?: number) => real(run, ms === LOOK_EVERY_MS ? 100 : ms));
  });
  afterEach(() => {
    shortened.mockRestore();
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Requests an export on a socket that reads `bytes` at a time, and pauses in between. */
  async function ask(bytes: number) {
    const { hostname, port } = new URL(proxy.url);
    let read = 0;
    const callback = (count: number) => {
      read += count;
      return false;
    };
    const socket = connect({
      host: hostname,
      port: Number(port),
      onread: { buffer: Buffer.alloc(bytes), callback },
    });
    sockets.push(socket.on('error', () => undefined));
    const before = await accesses();
    socket.write(`GET /v1/audit/export?format=ndjson HTTP/1.1\r\nhost: x\r\nx-api-key: ${auditor}\r\n\r\n`);
    await eventually(async () => (await accesses()).length > before.length);
    const id = (await accesses()).at(-1);
    const end = async () =>
      (await proxy.database.query('SELECT complete FROM access_end WHERE access_id = $1', [id]))[0];
    return { socket, end, readMore: () => socket.resume(), read: () => read };
  }
  const accesses = async () => {
    const rows = await proxy.database.query(
      `SELECT id FROM access WHERE route = 'GET /v1/audit/export' ORDER BY id`,
    );
    return rows.map(({ id }) => String(id));
  };

  it('ends if nothing is read', async () => {
    const { socket, end } = await ask(1);
    socket.pause();
    await eventually(async () => (await end()) !== undefined);
    expect(await end()).toEqual({ complete: false });
  });

  it('ends if its reader stalls in the middle', async () => {
    const { end, read, readMore } = await ask(1_000_000);
    await eventually(() => {
      readMore();
      return read() >= 1_000_000;
    });
    await eventually(async () => (await end()) !== undefined);
    expect(await end()).toEqual({ complete: false });
  });

  it('ends if its reader takes a byte at a time', async () => {
    const { end, read, readMore } = await ask(1);
    const trickle = setInterval(readMore, 10);
    await eventually(async () => (await end()) !== undefined).finally(() => clearInterval(trickle));
    expect(await end()).toEqual({ complete: false });
    expect(read()).toBeGreaterThan(3);
  });

  it('continues while its reader is slow but steady', async () => {
    const { end, readMore } = await ask(1_000_000);
    const steady = setInterval(readMore, 20);
    await eventually(async () => (await end()) !== undefined).finally(() => clearInterval(steady));
    expect(await end()).toEqual({ complete: true });
  });

  it('frees the export slots of its key', async () => {
    const stalled = [await ask(1), await ask(1)];
    for (const { end } of stalled) await eventually(async () => (await end()) !== undefined);
    for (let time = 0; time < 3; time += 1) {
      await proxy.get(auditor, '/v1/audit/export?format=csv&to=2020-01-01T00:00:00Z').expect(200);
    }
  });
});
