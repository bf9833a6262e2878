import { ExportService } from '../../../src/history/export/export.service';
import { TestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import type { Answer } from '../../support/http/request';
import { answer } from '../../support/network/fake-upstream';
import { AIRTIME, eventually, PaymentScene, PHONE, phones, startPaying } from '../../support/payments/paying';
import { asText, linesOf, readCsv, sha256 } from '../../support/records/export-files';

/** Streams of the whole history, or of the results of a search. */
describe('an export', () => {
  let paying: PaymentScene;
  let masked: string;
  let seeing: string;
  const sent: string[] = [];
  /** Resolves at the next checkpoint, which may take a second. */
  let noWaiting: jest.SpyInstance;

  beforeAll(async () => {
    noWaiting = jest.spyOn(ExportService.prototype, 'covering').mockResolvedValue(null);
    paying = await startPaying();
    await paying.proxy.startWorker();
    seeing = paying.auditor;
    masked = (await paying.proxy.client('masked', 'audit')).key;
    paying.upstream.behaviour = (received, response, socket) => {
      const { airtimes: [item] = [] } = JSON.parse(received.body || '{}') as Partial<typeof AIRTIME>;
      const data = [{ ...item, chiRef: `ref-${item?.phoneNumber.slice(-4)}`, id: '=1+1', status: 'paid' }];
      void answer(200, { status: 'success', data: { data } })(received, response, socket);
    };
    for (const phone of phones(5))
      sent.push((await paying.pay(phone).expect(200)).headers['x-call-id'] ?? '');
    sent.push(
      (await paying.proxy.post(paying.app, '/payouts/airtime', {}).expect(400)).headers['x-call-id'] ?? '',
    );
  });
  afterAll(() => paying.close());

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const get = (filters: string, key = seeing) =>
    paying.proxy.get(key, `/v1/audit/export?${filters}`).buffer(true).parse(asText);
  const manifestOf = async (got: Answer, key = seeing) => {
    const [, id = ''] =
      /^<\/v1\/audit\/export\/(.*)\/manifest>; rel="describedby"/.exec(got.headers.link ?? '') ?? [];
    return (await paying.proxy.get(key, `/v1/audit/export/${id}/manifest`).expect(200)).body;
  };
  type ExportEnd = { sha256: Buffer; checkpoint_size: string | null };
  const endOf = async (id: unknown) =>
    (await query<ExportEnd>('SELECT * FROM access_end WHERE access_id = $1', [id]))[0];

  it('has one NDJSON object per line, oldest first, and a manifest that proves completeness', async () => {
    const got = await get('format=ndjson')
      .expect(200)
      .expect('Content-Type', /^application\/x-ndjson/);
    const lines = linesOf(got.body);
    expect(lines.map(({ id }) => id)).toEqual(sent);
    expect(await manifestOf(got)).toEqual({
      format: 'ndjson',
      what: 'calls',
      filters: {},
      rows: 6,
      checkpoint: null,
      sha256: sha256(got.body),
      exported_at: expect.stringMatching(/Z$/),
      access_id: got.headers['x-call-id'],
    });
    expect(got.headers).toMatchObject({
      'x-total-count': '6',
      'content-disposition': 'attachment; filename="payout-proxy-calls.ndjson"',
    });
    expect(lines[0]).toMatchObject({
      operation: 'POST /payouts/airtime',
      outcome: 'succeeded',
      client: 'app',
      total_usd: '2.5',
      item_count: 1,
      upstream_status: 200,
      attempts: 1,
      refusal_code: null,
      approval: null,
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(lines[5]).toMatchObject({
      outcome: 'refused',
      refusal_code: 'invalid_request',
      refusal_status: 400,
    });
    expect(Object.keys(lines[5] ?? {})).toEqual(Object.keys(lines[0] ?? {}));
  });

  it('has the same names and values in CSV, and nothing but rows', async () => {
    const got = await get('format=csv')
      .expect(200)
      .expect('Content-Type', /^text\/csv/);
    const rows = readCsv(got.body);
    expect(rows.map(({ id }) => id)).toEqual(sent);
    expect(await manifestOf(got)).toMatchObject({ format: 'csv', rows: 6, sha256: sha256(got.body) });
    const line = first(linesOf((await get('format=ndjson')).body));
    expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(line));
    const asCells = Object.values(line).map((value) => String(value ?? ''));
    expect(Object.values(rows[0] ?? {}).map((cell) => cell.replace(/^'/, ''))).toEqual(asCells);
  });

  it('has one row for each payout with its transaction, and no formulas', async () => {
    const rows = readCsv((await get('format=csv&what=items').expect(200)).body);
    expect(rows.map(({ call_id }) => call_id)).toEqual(sent.slice(0, 5));
    expect(rows[0]).toMatchObject({
      position: '0',
      phone: `'${phones(1)[0]}`,
      amount_usd: '2.5',
      upstream_ref: 'ref-0000',
      upstream_id: "'=1+1",
      upstream_item_status: 'paid',
      outcome: 'succeeded',
    });
  });

  it('shows people only to readers with access to people', async () => {
    const text = (await get('format=csv&what=items', masked).expect(200)).body;
    for (const phone of phones(5)) expect(text).not.toContain(phone.slice(1));
    expect(readCsv(text)[0]).toMatchObject({ phone: "'+254••••0000" });
    const search = `format=csv&recipient=${PHONE.replace('+', '%2B')}`;
    const got = await get(search).set('X-People', 'masked').expect(200);
    expect(await manifestOf(got)).toMatchObject({ rows: 0, filters: { recipient: PHONE } });
    expect(await manifestOf(got, masked)).toMatchObject({ filters: { recipient: '+254••••5678' } });
  });

  it('uses the filters of the search', async () => {
    const one = encodeURIComponent(phones(2)[1] ?? '');
    const found = async (filters: string) =>
      readCsv((await get(`format=csv&${filters}`).expect(200)).body).map(({ id, call_id }) => id ?? call_id);
    expect(await found(`recipient=${one}`)).toEqual([sent[1]]);
    expect(await found(`recipient=${one}&what=items`)).toEqual([sent[1]]);
    expect(await found('outcome=refused')).toEqual([sent[5]]);
    expect(await found('min_item_usd=3')).toEqual([]);
    expect(await found('operation=POST%20/payouts/airtime&outcome=succeeded')).toEqual(sent.slice(0, 5));
    for (const bad of [
      'format=xml',
      '',
      'format=csv&what=all',
      'format=csv&page_size=1',
      'format=csv&from=x',
    ]) {
      await get(bad).expect(400);
    }
    await get('format=csv&min_item_usd=3&max_item_usd=2').expect(400);
    await get('format=csv', paying.app).expect(403);
    await get(`format=csv&recipient=${one}`, masked).expect(403);
  });

  it('has no manifest under the ID of another call or for other readers', async () => {
    const manifest = (id: string | undefined, key = seeing) =>
      paying.proxy.get(key, `/v1/audit/export/${id}/manifest`);
    await manifest(sent[0]).expect(404);
    await manifest('x').expect(404);
    const other = await paying.proxy.get(seeing, '/v1/audit/calls').expect(200);
    const { body } = await manifest(other.headers['x-call-id'] ?? '').expect(404);
    expect(body).toMatchObject({
      code: 'record_not_found',
      detail: expect.stringMatching(/still in progress/),
    });
    const got = await get('format=csv').expect(200);
    await manifest(got.headers['x-call-id'] ?? '', paying.app).expect(403);
  });

  it('is recorded before its first byte and after its end', async () => {
    const got = await get('format=ndjson&outcome=succeeded').expect(200);
    const id = got.headers['x-call-id'];
    const [access] = await query('SELECT * FROM access WHERE id = $1', [id]);
    expect(access).toMatchObject({
      route: 'GET /v1/audit/export',
      rows: null,
      revealed: true,
      filters: { format: 'ndjson', outcome: 'succeeded' },
    });
    const end = await endOf(id);
    expect(end).toMatchObject({ complete: true, rows: '5', checkpoint_size: null });
    expect(end?.sha256.toString('hex')).toBe(sha256(got.body));
    const { body } = await paying.proxy
      .get(masked, '/v1/audit/accesses?client=auditor&page_size=1')
      .expect(200);
    expect(body.accesses[0]).toMatchObject({
      id,
      end: { complete: true, rows: 5, sha256: end?.sha256.toString('hex') },
    });

    await query('ALTER TABLE access ADD CONSTRAINT unwritable CHECK (false) NOT VALID');
    const refused = await get('format=ndjson').expect(503);
    await query('ALTER TABLE access DROP CONSTRAINT unwritable');
    expect(refused.headers).not.toHaveProperty('x-total-count');
    expect(refused.body).toMatch(/so nothing is shown/);
  });

  it('names the checkpoint that covers all earlier records', async () => {
    noWaiting.mockRestore();
    let got = await get('format=csv').expect(200);
    await eventually(async () => {
      if ((await manifestOf(got)).checkpoint?.covers_beginning) return true;
      // On a busy machine, sealing may exceed CHECKPOINT_WAIT_MS.
      got = await get('format=csv').expect(200);
      return false;
    });
    const { size, note, covers_beginning } = (await manifestOf(got)).checkpoint!;
    expect([size, note, covers_beginning]).toEqual([expect.any(Number), expect.any(String), true]);
    expect(await query('SELECT note FROM checkpoint WHERE size = $1', [size])).toEqual([{ note }]);
    for (const record of [...sent, got.headers['x-call-id']]) {
      const leaves = await query('SELECT index::int FROM leaves_of($1)', [record]);
      expect(leaves.length).toBeGreaterThan(0);
      for (const { index } of leaves) expect(index).toBeLessThan(size);
    }
    expect((await endOf(got.headers['x-call-id']))?.checkpoint_size).toBe(String(size));
  });
});
