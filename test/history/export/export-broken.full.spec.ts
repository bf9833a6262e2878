import { get, IncomingMessage } from 'node:http';
import { ExportService } from '../../../src/history/export/export.service';
import { PayoutPosition } from '../../../src/history/records/records.service';
import { SearchService } from '../../../src/history/search/search.service';
import { TestDatabase } from '../../support/databases/test-database';
import { FakeUpstream } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { passTime } from '../../support/processes/pass-time';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** Size of an export above that of all buffers between the proxy and a client, some 12 MB. */
const ROWS = 1_500;
const ROW_TEXT = 8_000;

const BATCH = 250;

const text = async (response: IncomingMessage) => {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

describe('an export', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let auditor: string;
  let batches: number[];

  beforeAll(async () => {
    jest.spyOn(ExportService.prototype, 'covering').mockResolvedValue(null); // no waiting for the next one
    upstream = await FakeUpstream.start();
    proxy = await startProxy({ upstreamBaseUrl: upstream.url });
    ({ key: auditor } = await proxy.client('auditor', 'audit'));
    await addRefusals(ROWS);
    const { walk } = SearchService.prototype as {
      walk: (...args: unknown[]) => AsyncGenerator<PayoutPosition[], void>;
    };
    batches = []; // Number of batches of each export.
    jest.spyOn(SearchService.prototype, 'walk').mockImplementation(async function* (
      this: SearchService,
      ...args
    ) {
      const place = batches.push(0) - 1;
      for await (const batch of walk.apply(this, args)) {
        batches[place] = (batches[place] ?? 0) + 1;
        yield batch;
      }
    });
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await proxy.close();
    await upstream.stop();
  });
  beforeEach(() => (batches.length = 0));

  const query: TestDatabase['query'] = (sql, parameters) => proxy.database.query(sql, parameters);
  const addRefusals = (count: number) =>
    query(
      `INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code,
         detail, faults, fault_count, received_at)
       SELECT uuidv7(), c.id, c.id, 'POST /send', 'r', '127.0.0.1', 400, 'invalid_request',
         repeat('x', $2::int), '[]', 0, now()
       FROM client c, generate_series(1, $1::int) WHERE c.name = 'auditor'`,
      [count, ROW_TEXT],
    );
  /** Returns the answer once its head has arrived. */
  const begin = (key = auditor): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = { headers: { 'x-api-key': key }, agent: false as const };
      get(`${proxy.url}/v1/audit/export?format=ndjson`, options, resolve).on('error', reject);
    });
  const ended = async (response: IncomingMessage) => {
    const [end] = await query('SELECT complete, rows::int, sha256 FROM access_end WHERE access_id = $1', [
      response.headers['x-call-id'],
    ]);
    return end;
  };
  const manifestOf = async (response: IncomingMessage) => {
    const [, path = ''] = /^<(.*)>; rel="describedby"/.exec(String(response.headers.link)) ?? [];
    return proxy.get(auditor, path);
  };
  /** Returns the number of lines, and the end of the connection. */
  const readAll = async (response: IncomingMessage) => {
    const chunks: Buffer[] = [];
    let error: { code?: string } | undefined;
    try {
      for await (const chunk of response) chunks.push(chunk as Buffer);
    } catch (reason) {
      error = reason as { code?: string };
    }
    return { error, lines: Buffer.concat(chunks).toString('utf8').split('\n').length - 1 };
  };

  it('is read at the pace of its reader, and has no later rows', async () => {
    const [stalled, read] = [await begin(), await begin()];
    await addRefusals(100); // After the start of the export.
    const { error, lines } = await readAll(read);
    expect([error, lines]).toEqual([undefined, ROWS]);
    expect((await manifestOf(read)).body).toMatchObject({ rows: ROWS });
    expect((await manifestOf(stalled)).status).toBe(404);
    expect(batches[1]).toBe(ROWS / BATCH);
    expect(batches[0]).toBeLessThan(ROWS / BATCH);
    const whole = await readAll(stalled);
    expect([whole.error, whole.lines]).toEqual([undefined, ROWS]);
    expect(await ended(stalled)).toMatchObject({ complete: true, rows: ROWS });
  });

  it('ends when its reader disconnects, and is recorded as interrupted', async () => {
    const response = await begin();
    response.destroy();
    await eventually(async () => (await ended(response)) !== undefined);
    const end = await ended(response);
    expect(end).toMatchObject({ complete: false, sha256: null });
    expect(end?.rows).toBeLessThan(ROWS);
    expect(batches[0]).toBeLessThan(ROWS / BATCH);
  });

  it('is recorded as interrupted if its reader disconnects before the first byte', async () => {
    const counting = jest
      .spyOn(SearchService.prototype, 'count')
      .mockReturnValue(new Promise(() => undefined));
    const exports = () => query(`SELECT id FROM access WHERE route = 'GET /v1/audit/export'`);
    const before = (await exports()).length;
    const request = get(`${proxy.url}/v1/audit/export?format=csv`, {
      headers: { 'x-api-key': auditor },
      agent: false,
    });
    request.on('error', () => undefined);
    await eventually(async () => (await exports()).length > before);
    request.destroy();
    const ends = () =>
      query(
        'SELECT e.complete, e.rows::int FROM access a JOIN access_end e ON e.access_id = a.id ORDER BY a.id',
      );
    await eventually(async () => (await ends()).length > before);
    expect((await ends()).at(-1)).toEqual({ complete: false, rows: 0 });
    counting.mockRestore();
  });

  it('ends abruptly and without a manifest if the database fails', async () => {
    const response = await begin();
    await query('REVOKE SELECT ON refusal FROM payout_proxy');
    const { error } = await readAll(response);
    await query('GRANT SELECT ON refusal TO payout_proxy');
    expect(error?.code).toBe('ECONNRESET');
    await eventually(async () => (await ended(response)) !== undefined);
    expect(await ended(response)).toMatchObject({ complete: false });
    expect((await manifestOf(response)).status).toBe(404);
  });

  it('is rejected while its key has two in progress, but not for other keys', async () => {
    const others = await Promise.all(
      ['another', 'third'].map(async (name) => (await proxy.client(name, 'audit')).key),
    );
    const underWay = await Promise.all([auditor, auditor].map(begin));
    const oneTooMany = await begin();
    expect([oneTooMany.statusCode, oneTooMany.headers['retry-after']]).toEqual([429, '10']);
    expect(JSON.parse((await text(oneTooMany)) || '{}')).toMatchObject({ code: 'too_many_at_once' });
    for (const key of [...others, ...others]) underWay.push(await begin(key));
    expect(underWay.map(({ statusCode }) => statusCode)).toEqual(Array(6).fill(200));
    underWay[0]?.destroy();
    await eventually(async () => (await ended(underWay[0] as IncomingMessage)) !== undefined);
    const next = await begin();
    expect(next.statusCode).toBe(200);
    for (const each of [...underWay, next]) each.destroy();
    for (const each of [...underWay, next]) await eventually(async () => (await ended(each)) !== undefined);
  });

  it('ends when its key is revoked', async () => {
    const { id, key } = await proxy.client('leaving', 'audit');
    const response = await begin(key);
    await query('UPDATE api_key SET revoked_at = now() WHERE client_id = $1', [id]);
    const clock = passTime();
    const { error } = await readAll(response).finally(() => clock.mockRestore());
    expect(error?.code).toBe('ECONNRESET');
    await eventually(async () => (await ended(response)) !== undefined);
    expect(await ended(response)).toMatchObject({ complete: false });
    expect((await manifestOf(response)).status).toBe(404);
  });

  it('is interrupted by a shutdown of the proxy, which does not wait', async () => {
    const second = await startProxy({ upstreamBaseUrl: upstream.url }, proxy.database);
    const response = await new Promise<IncomingMessage>((resolve) =>
      get(
        `${second.url}/v1/audit/export?format=csv`,
        { headers: { 'x-api-key': auditor }, agent: false },
        resolve,
      ),
    );
    await second.close();
    expect((await readAll(response)).error?.code).toBe('ECONNRESET');
    expect(await ended(response)).toMatchObject({ complete: false });
    expect((await manifestOf(response)).status).toBe(404);
  });
});
