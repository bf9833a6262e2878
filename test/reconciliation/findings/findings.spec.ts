import { CATEGORIES, CATEGORY_NAMES, SEVERITIES } from '../../../src/reconciliation/findings/categories';
import supertest from '../../support/http/supertest';
import { ApprovalScene, startApproving } from '../../support/payments/approving';
import { FindingsScene } from '../../support/reconciliation/findings-scene';

const FINDINGS = '/v1/reconciliation/findings';
const UNKNOWN = '01a1fb98-53b1-7069-a17f-af1e8cacb634';

const READ = '01a1fb98-53b1-7069-a17f-af1e8cacb634';

describe('findings', () => {
  let approving: ApprovalScene;
  let scene: FindingsScene;
  let key: string;
  let seeing: string;
  let run: string;

  beforeAll(async () => {
    approving = await startApproving();
    scene = new FindingsScene(approving.proxy.database);
    ({ key } = await approving.proxy.client('reconciler', 'reconcile', 'audit'));
    ({ key: seeing } = await approving.proxy.client('seeing-reconciler', 'reconcile', 'audit:pii'));
    run = await scene.run();
  });
  afterAll(() => approving.close());

  const get = <const Path extends string>(path: Path, as = key) =>
    approving.proxy.get(as, `${FINDINGS}${path}`);
  const listed = async (query: string) => (await get(`?${query}`).expect(200)).body.findings;
  const post = (decisions: unknown, as = key) =>
    supertest(approving.proxy.url).post(`${FINDINGS}/decisions`).set('X-API-Key', as).send({ decisions });
  const decision = (finding_id: string, state = 'explained', more: object = {}) => ({
    finding_id,
    state,
    reason: 'the provider says so',
    ...more,
  });

  it('are summed by their age', async () => {
    const ages = [0, 1, 2, 7, 8, 30, 31, 4_000];
    await scene.findings(
      run,
      ages.map((daysAgo) => ({ daysAgo })),
    );
    const report = `/v1/reconciliation/runs/${run}/report?findings=none` as const;
    const { body } = await approving.proxy.get(key, report).expect(200);
    expect(body.ageing.map(({ count, usd }) => [count, usd])).toEqual(Array(4).fill([2, '2']));
  });

  it('have a difference, a severity and a suggested action', async () => {
    const id = await scene.finding(run, {
      category: 'missing_local',
      upstreamRef: 'chi-leak',
      usd: '12.500000',
      daysAgo: 3.5,
      fields: [{ field: 'recipient', ours: null, theirs: 'm••@example.com' }],
      evidence: { theirs: { read_id: READ, ordinal: 4, at: null } },
    });
    const { body } = await get(`/${id}`).expect(200);
    expect(body).toEqual({
      id,
      account: 'main',
      category: 'missing_local',
      severity: 'critical',
      state: 'open',
      subject: 'upstream_ref/chi-leak',
      title: 'Unknown transaction at the upstream',
      suggested_action: expect.stringContaining("The upstream's key may have leaked"),
      meaning: expect.stringContaining('our records have no payment'),
      impact_usd: '12.5',
      fields: [{ field: 'recipient', ours: null, theirs: 'm••@example.com' }],
      occurred_at: '2026-11-20T08:00:00.000Z',
      found_at: expect.any(String),
      age_days: 3,
      call_id: null,
      position: null,
      upstream_ref: 'chi-leak',
      upstream_id: null,
      batch_ref: null,
      wallet_id: null,
      found_by: run,
      seen_by: run,
      seen_at: expect.any(String),
      last_step: null,
      steps: [],
      sight_count: 1,
      version: expect.stringMatching(/^v[0-9a-f]{12}$/),
      evidence: { ours: null, theirs: { read_id: READ, ordinal: 4, at: null }, match: null },
      sights: [
        {
          run_id: run,
          seen_at: expect.any(String),
          historical: false,
          impact_usd: '12.5',
          fields: body.fields,
          evidence: body.evidence,
        },
      ],
    });
    await get(`/${UNKNOWN}`).expect(404);
    await get('/x').expect(404);
    await get('', approving.app).expect(403);
  });

  it('match each filter', async () => {
    const before = await scene.run();
    const one = await scene.finding(before, {
      category: 'late',
      callId: approving.model,
      occurredAt: '2020-01-05T00:00:00Z',
      daysAgo: 40,
      usd: '0',
    });
    const two = await scene.finding(before, { category: 'status', occurredAt: '2020-01-06T00:00:00Z' });
    const three = await scene.finding(before, {
      category: 'missing_local',
      occurredAt: '2020-01-07T00:00:00Z',
    });
    const found = async (query: string) => (await listed(`run_id=${before}&${query}`)).map(({ id }) => id);
    expect(await found('')).toEqual([three, two, one]);
    expect(await found('category=late')).toEqual([one]);
    expect(await found('severity=critical')).toEqual([three]);
    expect(await found('severity=medium')).toEqual([]);
    expect(await found(`call_id=${approving.model}`)).toEqual([one]);
    expect(await found('from=2020-01-06T00:00:00Z&to=2020-01-07T00:00:00Z')).toEqual([two]);
    expect(await found('min_age_days=40')).toEqual([one]);
    expect(await found('min_age_days=41')).toEqual([]);
    expect(await found('max_age_days=39')).toEqual([three, two]);
    expect(await found('min_age_days=40&max_age_days=40')).toEqual([one]);
    expect(await found('state=open')).toEqual([three, two, one]);
    await post([decision(two, 'resolved')]).expect(200);
    expect(await found('')).toEqual([three, one]);
    expect(await found('state=resolved')).toEqual([two]);
    expect(await found('state=any')).toEqual([three, two, one]);
    await post([decision(two, 'reopened')]).expect(200);
    expect(await found('state=open')).toEqual([three, one]);
    expect(await found('')).toEqual([three, two, one]);
    for (const wrong of [
      'state=closed',
      'category=x',
      'severity=bad',
      'run_id=1',
      'min_age_days=-1',
      'from=today',
    ]) {
      await get(`?${wrong}`).expect(400);
    }
  });

  it('are listed in pages', async () => {
    const many = await scene.run();
    const ids = await scene.findings(
      many,
      Array.from({ length: 5 }, () => ({})),
    );
    const first = await get(`?run_id=${many}&page_size=3`).expect(200);
    const rest = await get(`?run_id=${many}&page_size=3&page_token=${first.body.next_page_token}`).expect(
      200,
    );
    const shown = [...first.body.findings, ...rest.body.findings].map(({ id }) => id);
    expect([shown, rest.body.next_page_token]).toEqual([ids.reverse(), null]);
  });

  it('show the state of the last run that was not historical', async () => {
    const id = await scene.finding(run, { usd: '1' });
    await scene.observeAgain(id, await scene.run(), '2.50');
    await scene.observeAgain(id, await scene.run({ historical: true }), '9');
    const { body } = await get(`/${id}`).expect(200);
    expect([body.impact_usd, body.sight_count]).toEqual(['2.5', 3]);
    expect(body.sights.map((sight) => [sight.impact_usd, sight.historical])).toEqual([
      ['9', true],
      ['2.5', false],
      ['1', false],
    ]);
  });

  it('show people within IDs only to readers with access to people', async () => {
    const id = await scene.finding(run, { upstreamRef: 'ada@example.com' });
    expect((await get(`/${id}`).expect(200)).body).toMatchObject({
      upstream_ref: 'a••@example.com',
      subject: 'upstream_ref/a••@example.com',
    });
    expect((await get(`/${id}`, seeing).expect(200)).body).toMatchObject({ upstream_ref: 'ada@example.com' });
  });

  it('appear in access records and in the timeline of their call', async () => {
    const id = await scene.finding(run, { category: 'status', callId: approving.model, position: 0 });
    for (const [got, filters] of [
      [await get(`/${id}`).expect(200), { finding_id: id }],
      [await get(`?call_id=${approving.model}`).expect(200), { call_id: approving.model }],
    ] as const) {
      const [access] = await approving.query<{ call_id: string | null; call_ids: string[] }>(
        'SELECT * FROM access WHERE id = $1',
        [got.headers['x-call-id']],
      );
      expect([access?.call_id, ...(access?.call_ids ?? [])]).toContain(approving.model);
      expect(access).toMatchObject({ filters, revealed: false });
    }
    const timeline = await approving.proxy.get(key, `/v1/audit/calls/${approving.model}`).expect(200);
    expect(timeline.body.reconciliation_findings).toContainEqual({
      id,
      category: 'status',
      position: 0,
      state: 'open',
      impact_usd: '1',
      found_at: expect.any(String),
    });
  });

  it('have sixteen categories, the worst first', () => {
    const severities = CATEGORY_NAMES.map((name) => SEVERITIES.indexOf(CATEGORIES[name].severity));
    expect(severities).toEqual([...severities].sort());
    expect(severities).toHaveLength(16);
  });
});
