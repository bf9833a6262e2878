import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { leafSql } from '../../src/history/log/kinds';
import { Secret } from '../../src/platform/config/secrets/secret';
import supertest from '../support/http/supertest';
import { answer, Behaviour, FakeUpstream } from '../support/network/fake-upstream';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { airtime, phones } from '../support/payments/paying';

const SECRET = 'a screening secret of many bytes'.replaceAll(' ', '-');
const says = (verdict: unknown) => answer(200, { verdict, reason: 'Ada Lovelace is on list 17' });

describe('recipient screening', () => {
  let service: FakeUpstream;
  let approving: ApprovalScene;
  let count = 0;

  beforeAll(async () => {
    service = await FakeUpstream.start();
    const screeningSecret = new Secret(SECRET);
    service.behaviour = says('allow');
    approving = await startApproving({
      screeningUrl: `${service.url}/check`,
      screeningSecret,
      screeningTimeoutMs: 500,
    });
  });
  afterAll(async () => {
    await approving.close();
    await service.stop();
  });
  beforeEach(async () => {
    await approving.reset();
    service.received.length = 0;
    service.behaviour = says('allow');
  });

  const pay = (key?: string) => {
    const [phone = ''] = phones((count += 1)).slice(-1);
    const asked = approving.proxy.post(approving.app, '/payouts/airtime', airtime(phone));
    return key === undefined ? asked : asked.set('Idempotency-Key', key);
  };
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const recordOf = async (id: string) =>
    (await approving.proxy.get(approving.auditor, `/v1/audit/calls/${id}`).expect(200)).body;

  it('sends an allowed call, records the verdict, and identifies the client and the recipients', async () => {
    await pay().expect(200); // looks the changed client up
    service.received.length = 0;
    const body = {
      credits: [{ email: 'Ada@example.com', twitter: '@ada', valueInUSD: 1.5 }, { twitter: '@bob' }],
    };
    const id = idOf(await approving.proxy.post(approving.app, '/payouts/credit', body).expect(200));
    expect(await recordOf(id)).toMatchObject({ screening: 'allow', outcome: 'succeeded' });
    const [{ headers, body: sent, url, method } = service.received[0]!] = service.received;
    expect([method, url, headers['content-type'], headers['webhook-id']]).toEqual([
      'POST',
      '/check',
      'application/json',
      id,
    ]);
    const nothing = { phone: null, receiver: null, country: null };
    expect(JSON.parse(sent)).toEqual({
      call_id: id,
      client: 'app',
      operation: 'POST /payouts/credit',
      total_usd: '1.5',
      items: [
        { ...nothing, position: 0, email: 'Ada@example.com', handle: '@ada', amount_usd: '1.5' },
        { ...nothing, position: 1, email: null, handle: '@bob', amount_usd: null },
      ],
    });
    const signed = `${id}.${String(headers['webhook-timestamp'])}.${sent}`;
    const signature = createHmac('sha256', SECRET).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    expect(JSON.stringify(headers)).not.toContain(approving.app);
    await approving.proxy.get(approving.app, '/api/v0.1/info/assets').expect(200);
    expect(service.received).toHaveLength(1);
  });

  it('refuses a denied call, and stores no details of the service', async () => {
    service.behaviour = says('deny');
    const refused = await pay().expect(403);
    expect(refused.body).toMatchObject({ code: 'screening_denied', action: 'ask' });
    expect(await recordOf(idOf(refused))).toMatchObject({
      refusal: { code: 'screening_denied' },
      screening: null,
    });
    const [row] = await approving.query(`SELECT string_agg(r::text, ' ') AS text FROM refusal r`);
    expect(`${String(row?.text)} ${refused.text}`).not.toMatch(/Lovelace|list 17/);
    expect(approving.upstream.received).toEqual([]);
  });

  it('holds a call for review, and screens again on approval', async () => {
    service.behaviour = says('review');
    const held = idOf(await pay().expect(202));
    expect(await recordOf(held)).toMatchObject({
      screening: 'review',
      approval: { held_for: 'screening_review' },
    });
    service.behaviour = says('deny');
    expect((await approving.decide('approve', held).expect(409)).body.code).toBe('no_longer_allowed');
    service.behaviour = answer(500, 'down');
    expect((await approving.decide('approve', held).expect(503)).body.code).toBe('screening_unavailable');
    expect(approving.upstream.received).toEqual([]);
    service.behaviour = says('review');
    await approving.decide('approve', held).expect(200);
    expect(approving.upstream.received).toHaveLength(1);
  });

  it('records the verdict of each approval, including prevented ones', async () => {
    const verdicts = ['allow', 'review'];
    for (const verdict of verdicts) {
      service.behaviour = says('review');
      const held = idOf(await pay().expect(202));
      expect(await recordOf(held)).toMatchObject({ approval: { screening: null } });
      service.behaviour = says('deny');
      const refused = idOf(await approving.decide('approve', held).expect(409));
      const refusals = await approving.query(`SELECT code, detail FROM refusal WHERE id = '${refused}'`);
      expect(refusals).toEqual([
        { code: 'no_longer_allowed', detail: expect.stringContaining('screening_denied') as string },
      ]);
      service.behaviour = says(verdict);
      await approving.decide('approve', held).expect(200);
      expect(await recordOf(held)).toMatchObject({ screening: 'review', approval: { screening: verdict } });
    }
    const leaves = leafSql('decision', 'd');
    const sealed = await approving.query(
      `SELECT ${leaves} AS leaf FROM decision d WHERE screening IS NOT NULL`,
    );
    const said = sealed.map(({ leaf }) => (JSON.parse(String(leaf)) as { screening?: string }).screening);
    expect(said).toEqual(expect.arrayContaining(verdicts));
    service.behaviour = says('review');
    const rejected = idOf(await pay().expect(202));
    await approving.decide('reject', rejected).expect(200);
    expect(await recordOf(rejected)).toMatchObject({ approval: { status: 'rejected', screening: null } });
  });

  it('replays a call even if screening is unavailable', async () => {
    const body = airtime('+254700099999');
    const ask = () =>
      approving.proxy.post(approving.app, '/payouts/airtime', body).set('Idempotency-Key', 'replayed');
    await ask().expect(200);
    service.behaviour = answer(500, 'down');
    expect((await ask().expect(200)).headers['idempotent-replayed']).toBe('true');
    service.behaviour = says('deny');
    await ask().expect(200);
    expect(approving.upstream.received).toHaveLength(1);
  });

  it('sends nothing to the service for a refused request or a preview', async () => {
    await approving.query('UPDATE client SET max_item_usd = 1 WHERE id = $1', [approving.clientId]);
    await pay().expect(403); // looks the changed client up
    service.received.length = 0;
    await pay().expect(403);
    await approving.query('UPDATE client SET max_item_usd = NULL WHERE id = $1', [approving.clientId]);
    const preview = supertest(approving.proxy.url)
      .post('/v1/preview/payouts/airtime')
      .set('X-API-Key', approving.app);
    await preview.send(airtime('+254700088888')).expect(200);
    expect(service.received).toEqual([]);
  });

  const drip: Behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"verdict"');
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(timer));
  };
  const endless: Behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };
  it.each<[string, Behaviour]>([
    ['never answers', () => undefined],
    ['never ends its answer', drip],
    ['sends an endless answer', endless],
    ['closes the connection', (_request, _response, socket) => socket.destroy()],
    ['answers no JSON', answer(200, 'allow')],
    ['answers another word', says('ALLOW')],
    ['answers a list', says(['allow'])],
    ['answers nothing', answer(200, '')],
    ['answers null', answer(200, 'null')],
    ['answers two verdicts', answer(200, '{"verdict":"deny","verdict":"allow"}')],
    ['answers two verdicts in two spellings', answer(200, '{"verdict":"deny","\\u0076erdict":"allow"}')],
    ['answers twin members beside its verdict', answer(200, '{"verdict":"allow","list":{"id":1,"id":2}}')],
    ['answers 500 with a verdict', answer(500, { verdict: 'allow' })],
    ['answers 201 with a verdict', answer(201, { verdict: 'allow' })],
    ['answers a large answer with a verdict', answer(200, { verdict: 'allow', more: 'x'.repeat(20_000) })],
    [
      'redirects',
      (request, response, socket) =>
        answer(307, '', { location: `${service.url}/allow` })(request, response, socket),
    ],
  ])('refuses with 503 if the service %s', async (_what, behaviour) => {
    service.behaviour = (request, response, socket) =>
      (request.url === '/allow' ? says('allow') : behaviour)(request, response, socket);
    const { body, headers } = await pay(`k-${(count += 1)}`).expect(503);
    expect([body.code, body.action, headers['retry-after']]).toEqual([
      'screening_unavailable',
      'retry_same_key',
      '5',
    ]);
    // a changed client is looked up and judged again
    const asked = new Set(service.received.map(({ url }) => url));
    expect([[...asked], approving.upstream.received]).toEqual([['/check'], []]);
  });

  it('sends nothing upstream without the verdict allow, for any response of the service', async () => {
    const body = fc.oneof(
      fc.constantFrom('allow', 'deny', 'review').map((verdict) => JSON.stringify({ verdict })),
      fc.anything().map((verdict) => JSON.stringify({ verdict })),
      fc.json(),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(200, 204, 202, 301, 400, 403, 503), body, async (status, text) => {
        approving.upstream.received.length = 0;
        service.behaviour = (_request, response) =>
          response.writeHead(status).end(status === 204 ? '' : text);
        const { status: answered } = await pay();
        const isAllowed = status === 200 && /^\{"verdict":"allow"\}$/.test(text);
        expect([answered === 200, approving.upstream.received.length]).toEqual([
          isAllowed,
          isAllowed ? 1 : 0,
        ]);
      }),
      { numRuns: 60 },
    );
  });
});
