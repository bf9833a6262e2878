import { createHash } from 'node:crypto';
import { first } from '../../support/examples/first';
import type { Answer, Request } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { ApprovalScene, startApproving } from '../../support/payments/approving';
import { PHONE } from '../../support/payments/paying';

/** Columns of the table `access` that tests read. */
interface AccessRow {
  id: string;
  key_id: string;
  read_at: Date;
  call_ids: string[];
  filters: unknown;
  filters_commitment: Buffer;
}

describe('a read of the history', () => {
  let approving: ApprovalScene;
  let auditor: { id: string; key: string };
  let seeing: { id: string; key: string };
  let masking: { id: string; key: string };
  beforeAll(async () => {
    approving = await startApproving();
    auditor = await approving.proxy.client('masked-auditor', 'audit');
    seeing = await approving.proxy.client('seeing-auditor', 'audit', 'audit:pii', 'reconcile');
    masking = await approving.proxy.client('masked-reconciler', 'reconcile');
  });
  afterAll(() => approving.close());

  const get = <const Path extends string>(path: Path, key = auditor.key) => approving.proxy.get(key, path);
  const accessOf = async ({ headers }: Answer) =>
    (await approving.query<AccessRow>('SELECT * FROM access WHERE id = $1', [headers['x-call-id']]))[0]!;
  const listed = async (query: string, key = auditor.key) =>
    (await get(`/v1/audit/accesses?${query}`, key).expect(200)).body.accesses;

  it('is recorded with its reader, route, number of rows and time', async () => {
    const got = await get('/v1/audit/calls?outcome=succeeded&page_size=1').set('X-Actor', 'ada').expect(200);
    const access = await accessOf(got);
    expect(access).toMatchObject({
      client_id: auditor.id,
      actor: 'ada',
      route: 'GET /v1/audit/calls',
      call_id: null,
      rows: 1,
      revealed: false,
      filters: { outcome: 'succeeded', page_size: '1' },
      filters_commitment: null,
      client_address: '127.0.0.1',
      call_ids: [first(got.body.calls).id],
      request_id: got.headers['x-request-id'],
    });
    expect(access.key_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Math.abs(access.read_at.getTime() - Date.now())).toBeLessThan(600_000);
  });

  it.each<[string, string, string, (held: string) => Promise<Answer> | Request]>([
    ['a call', 'GET /v1/audit/calls/:id', 'call', (id) => get(`/v1/audit/calls/${id}`)],
    ['held calls', 'GET /v1/approvals', 'page', () => get('/v1/approvals', approving.approver.key)],
    [
      'a held call',
      'GET /v1/approvals/:call_id',
      'call',
      (id) => get(`/v1/approvals/${id}`, approving.approver.key),
    ],
    ['an approval', 'POST /v1/approvals/:call_id/approve', 'call', (id) => approving.decide('approve', id)],
    ['a rejection', 'POST /v1/approvals/:call_id/reject', 'call', (id) => approving.decide('reject', id)],
    ['payouts', 'GET /v1/audit/items', 'page', () => get('/v1/audit/items')],
    ['a summary', 'GET /v1/audit/summary', 'none', () => get('/v1/audit/summary')],
    ['the shapes of answers', 'GET /v1/audit/shapes', 'none', () => get('/v1/audit/shapes')],
    ['unknown words', 'GET /v1/audit/status-words', 'none', () => get('/v1/audit/status-words')],
    ['accesses', 'GET /v1/audit/accesses', 'none', () => get('/v1/audit/accesses')],
  ])('is recorded for %s', async (_what, route, shown, read) => {
    const held = await approving.hold();
    const access = await accessOf(await read(held));
    expect(access).toMatchObject({ route, revealed: false, call_id: shown === 'call' ? held : null });
    expect(access.call_ids.includes(held)).toBe(shown === 'page');
  });

  it('is recorded for a settlement', async () => {
    const doubtful = await approving.hold({
      held_for: null,
      expires_at: null,
      recorded_at: new Date(0),
      process: null,
    });
    const settled = await supertest(approving.proxy.url)
      .post(`/v1/calls/${doubtful}/resolution`)
      .set('X-API-Key', approving.approver.key)
      .send({ outcome: 'not_executed', reason: 'the provider says so' })
      .expect(200);
    expect(await accessOf(settled)).toMatchObject({ call_id: doubtful, rows: 1 });
  });

  it('counts as revealing only if the reader may see people and the response contains some', async () => {
    expect(await accessOf(await get('/v1/audit/calls', seeing.key))).toMatchObject({ revealed: true });
    expect(await accessOf(await get('/v1/audit/calls?reference=none', seeing.key))).toMatchObject({
      revealed: false,
    });
    expect(await accessOf(await get('/v1/audit/shapes', seeing.key))).toMatchObject({ revealed: false });
    expect(await accessOf(await get(`/v1/audit/calls/${approving.model}`, seeing.key))).toMatchObject({
      revealed: true,
      filters: {},
    });
  });

  it.each<[string, string, Record<string, string>]>([
    ['finds no payout', '/v1/audit/calls?recipient=%2B254799999999', {}],
    ['finds no payout by a prefix', '/v1/audit/items?recipient_prefix=%2B999', {}],
    ['is masked', `/v1/audit/calls?recipient=${encodeURIComponent(PHONE)}`, { 'X-People': 'masked' }],
    ['only counts', `/v1/audit/summary?recipient=${encodeURIComponent(PHONE)}`, {}],
    [
      'is exported and masked',
      '/v1/audit/export?format=csv&recipient=%2B254799999999',
      { 'X-People': 'masked' },
    ],
  ])('counts as revealing if a search by recipient %s', async (_what, path, headers) => {
    expect(await accessOf(await get(path, seeing.key).set(headers).expect(200))).toMatchObject({
      revealed: true,
    });
  });

  it.each([
    ['upstream_ref,amount_usd,recipient', true],
    ['upstream_ref,amount_usd,phone', true],
    ['upstream_ref,amount_usd,note', false],
  ])('counts as revealing if an imported statement has the columns %s: %s', async (columns, revealed) => {
    const statement = `${columns}\nref-1,2.5,+254712345678`;
    const importing = (key: string) =>
      supertest(approving.proxy.url)
        .post('/v1/reconciliation/statements?mapping=fields')
        .set({ 'X-API-Key': key, 'Content-Type': 'text/csv' })
        .send(statement);
    const route = 'POST /v1/reconciliation/statements';
    expect(await accessOf(await importing(seeing.key).expect(201))).toMatchObject({ route, revealed });
    expect(await accessOf(await importing(masking.key))).toMatchObject({ route, revealed: false });
  });

  it('keeps the fact of a search for a person forever, but not the person', async () => {
    const path = `/v1/audit/calls?recipient=${encodeURIComponent('ada@example.com')}&reference=x`;
    const got = await get(path, seeing.key).expect(200);
    const access = await accessOf(got);
    expect(access.filters).toEqual({ recipient: 'a••@example.com', reference: 'x' });
    const kept = await approving.query<{ salt: Buffer; filters: Buffer }>(
      'SELECT * FROM access_filters WHERE access_id = $1',
      [access.id],
    );
    const { salt, filters } = first(kept);
    expect(filters.toString()).toBe('{"recipient":"ada@example.com","reference":"x"}');
    const commitment = createHash('sha256').update(salt).update(filters).digest();
    expect(commitment.equals(access.filters_commitment)).toBe(true);

    const shown = async (key: string) =>
      (await listed('client=seeing-auditor', key)).find(({ id }) => id === access.id)?.filters.recipient;
    expect(await shown(auditor.key)).toBe('a••@example.com');
    expect(await shown(seeing.key)).toBe('ada@example.com');
    // Like an erasure.
    await approving.query('DELETE FROM access_filters WHERE access_id = $1', [access.id]);
    expect(await shown(seeing.key)).toBe('a••@example.com');
  });

  it('is not recorded for own calls and rejected requests', async () => {
    const before = (await approving.query('SELECT count(*)::int AS n FROM access'))[0]?.n;
    await get('/v1/calls', approving.app).expect(200);
    await get(`/v1/calls/${approving.model}`, approving.app).expect(200);
    await get('/v1/audit/calls', approving.app).expect(403);
    await get('/v1/audit/calls?outcome=x').expect(400);
    await get('/v1/audit/calls/x').expect(404);
    expect((await approving.query('SELECT count(*)::int AS n FROM access'))[0]?.n).toBe(before);
  });

  it('shows nothing if it cannot be recorded, and keeps a decision already made', async () => {
    const held = await approving.hold();
    await approving.query('ALTER TABLE access ADD CONSTRAINT unwritable CHECK (false) NOT VALID');
    try {
      for (const path of [
        '/v1/audit/calls',
        `/v1/audit/calls/${held}`,
        '/v1/audit/accesses',
        '/v1/audit/shapes',
      ]) {
        const { body, text } = await get(path).expect(503);
        expect(body).toMatchObject({
          code: 'database_unavailable',
          detail: expect.stringMatching(/so nothing is shown/),
        });
        expect(text).not.toContain(approving.clientId);
      }
      const { body } = await approving.decide('reject', held).expect(503);
      expect(body.detail).toMatch(
        /reject was carried out, but your access to the history could not be recorded/,
      );
    } finally {
      await approving.query('ALTER TABLE access DROP CONSTRAINT unwritable');
    }
    expect(await approving.read(held)).toMatchObject({ outcome: 'declined' });
  });

  it('is listed newest first, in pages, by client, key, person, call and time', async () => {
    const held = await approving.hold();
    const first = await get(`/v1/audit/calls/${held}`).set('X-Actor', 'grace').expect(200);
    const second = await get('/v1/audit/calls', seeing.key).set('X-Actor', 'grace').expect(200);
    await get(`/v1/audit/calls/${approving.model}`).set('X-Actor', 'grace').expect(200);
    const ids = [second, first].map(({ headers }) => headers['x-call-id']);
    expect((await listed(`call=${held}`)).map(({ id }) => id)).toEqual(ids);

    const access = await accessOf(first);
    expect((await listed(`call=${held}&key=${access?.key_id}`)).map(({ id }) => id)).toEqual([ids[1]]);
    expect((await listed(`call=${held}&client=seeing-auditor`)).map(({ id }) => id)).toEqual([ids[0]]);
    expect((await listed(`call=${held}&client=${seeing.id}`)).map(({ id }) => id)).toEqual([ids[0]]);
    expect(await listed('client=nobody')).toEqual([]);
    expect(await listed('actor=grace')).toHaveLength(3);
    expect(await listed(`call=${held}&to=2001-01-01T00:00:00Z`)).toEqual([]);
    expect(await listed(`call=${held}&from=2001-01-01T00:00:00Z`)).toHaveLength(2);

    const page = await get('/v1/audit/accesses?actor=grace&page_size=2').expect(200);
    const rest = await get(
      `/v1/audit/accesses?actor=grace&page_size=2&page_token=${page.body.next_page_token}`,
    );
    expect([page.body.accesses.length, rest.body.accesses?.length, rest.body.next_page_token]).toEqual([
      2,
      1,
      null,
    ]);
    expect(page.body.accesses[1]).toEqual({
      id: ids[0],
      read_at: expect.any(String),
      client: { id: seeing.id, name: 'seeing-auditor' },
      key_id: expect.any(String),
      actor: 'grace',
      route: 'GET /v1/audit/calls',
      call_id: null,
      call_ids: expect.arrayContaining([held]),
      filters: {},
      revealed: true,
      rows: expect.any(Number),
      request_id: second.headers['x-request-id'],
      client_address: '127.0.0.1',
      end: null,
    });
    for (const bad of ['call=x', 'key=x', 'from=x', 'actor=', 'page_size=0', 'rows=1']) {
      await get(`/v1/audit/accesses?${bad}`).expect(400);
    }
  });
});
