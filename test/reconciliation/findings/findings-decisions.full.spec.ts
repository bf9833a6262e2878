import { Client } from 'pg';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { personHash } from '../../../src/access/people/person';
import { LOCKS } from '../../../src/platform/database/locks';
import type { Answer } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { ApprovalScene, startApproving } from '../../support/payments/approving';
import { eventually } from '../../support/payments/paying';
import { FindingsScene } from '../../support/reconciliation/findings-scene';

const FINDINGS = '/v1/reconciliation/findings';
const UNKNOWN = '01a1fb98-53b1-7069-a17f-af1e8cacb634';

describe('decisions about findings', () => {
  let approving: ApprovalScene;
  let scene: FindingsScene;
  let key: string;
  let keyOfAlan: string;
  let run: string;

  beforeAll(async () => {
    approving = await startApproving();
    scene = new FindingsScene(approving.proxy.database);
    ({ key } = await approving.proxy.client('reconciler', 'reconcile', 'audit'));
    ({ key: keyOfAlan } = await issueTo('reconciler', 'alan'));
    run = await scene.run();
  });
  afterAll(() => approving.close());

  const get = <const Path extends string>(path: Path, as = key) =>
    approving.proxy.get(as, `${FINDINGS}${path}`);
  const post = (decisions: unknown, as = key) =>
    supertest(approving.proxy.url).post(`${FINDINGS}/decisions`).set('X-API-Key', as).send({ decisions });
  const decision = (finding_id: string, state = 'explained', more: object = {}) => ({
    finding_id,
    state,
    reason: 'the provider says so',
    ...more,
  });
  const stateOf = async (id: string) => (await get(`/${id}`).expect(200)).body.state;

  it('are recorded with author, reason and impact', async () => {
    const id = await scene.finding(run, { usd: '3.25' });
    await post([decision(id, 'explained', { reason: 'ada@example.com asked for it' })])
      .set('X-Actor', 'grace')
      .expect(200, { decided: 1, ignored: 0, findings: [{ finding_id: id, state: 'explained' }] });
    const { body } = await get(`/${id}`).expect(200);
    const [step] = body.steps;
    expect(step).toMatchObject({
      state: 'explained',
      reason: 'a••@example.com asked for it',
      impact_usd: '3.25',
      run_id: null,
      actor: null,
      decided_at: expect.any(String),
      client_id: expect.any(String), // X-Actor is no evidence
    });
    expect([body.last_step, body.age_days]).toEqual([step, null]);
  });

  it.each([
    ['open', ['explained', 'resolved', 'accepted']],
    ['explained', ['reopened']],
    ['resolved', ['reopened']],
    ['accepted', ['reopened']],
    ['reopened', ['explained', 'resolved', 'accepted']],
  ])('allow only the changes from %s to %j', async (from, allowed) => {
    const before = { open: [], reopened: ['explained', 'reopened'] }[from] ?? [from];
    for (const to of ['explained', 'resolved', 'accepted', 'reopened']) {
      const id = await scene.finding(run);
      for (const state of before) await post([decision(id, state)], keyOfAlan).expect(200);
      const { status, body } = await post([decision(id, to)], keyOfAlan);
      expect([to, status]).toEqual([to, allowed.includes(to) ? 200 : 409]);
      expect(await stateOf(id)).toBe(allowed.includes(to) ? to : from);
      if (status === 409) expect(body.errors?.[0]).toMatchObject({ pointer: '/decisions/0/state' });
      if (to === from) expect(body.errors?.[0]?.detail).toBe(`the finding is already ${from}`);
    }
  });

  it('apply together or not at all, with every fault reported', async () => {
    const [good, closed] = [await scene.finding(run), await scene.finding(run)];
    await post([decision(closed)]).expect(200);
    const { body } = await post([
      decision(good),
      decision(UNKNOWN),
      decision(closed, 'accepted'),
      decision(good.toUpperCase()),
    ]).expect(400);
    expect(body.code).toBe('invalid_request');
    expect(body.errors?.map(({ pointer, detail }) => [pointer, detail])).toEqual([
      ['/decisions/3/finding_id', 'the finding is already decided at /decisions/0; decide it once'],
      ['/decisions/1/finding_id', 'there is no finding with this ID'],
      ['/decisions/2/state', 'the finding is explained; reopen it first to change the decision'],
      ['/decisions/2/state', expect.stringMatching(/^only a person can accept a difference/)],
    ]);
    expect(await scene.steps(good)).toEqual([]);
    const wrong = await post([{ finding_id: 'x', state: 'closed', reason: ' ', version: '1', why: 'so' }, 1]);
    const fields = ['finding_id', 'reason', 'state', 'version', 'why'].map((name) => `/decisions/0/${name}`);
    const pointers = wrong.body.errors?.map(({ pointer }) => pointer).sort();
    expect([wrong.status, pointers]).toEqual([400, [...fields, '/decisions/1']]);
    for (const none of [[], 'all', undefined, null]) await post(none).expect(400);
  });

  it('apply to findings as displayed, or not at all', async () => {
    const id = await scene.finding(run);
    const { version } = (await get(`/${id}`)).body;
    await scene.observeAgain(id, await scene.run(), '1.00'); // unchanged
    await post([decision(id, 'explained', { version })]).expect(200);
    const stale = await post([decision(id, 'reopened', { version })]).expect(409);
    const change = /changed since you read it: it is now explained with an impact of 1 US dollars/;
    expect(stale.body).toMatchObject({
      code: 'finding_changed',
      errors: [{ pointer: '/decisions/0/version', detail: expect.stringMatching(change) }],
    });
    const now = (await get(`/${id}`)).body.version;
    await scene.observeAgain(id, await scene.run(), '8');
    await post([decision(id, 'reopened', { version: now })]).expect(409);
  });

  /** Starts decisions and waits until they block on a run that is about to end. */
  const waiting = async (begin: () => Promise<Answer>[], end: (run: Client) => Promise<unknown>) => {
    const ending = new Client({ connectionString: approving.proxy.database.ownerUrl });
    await ending.connect();
    await ending.query('BEGIN');
    await ending.query('SELECT pg_advisory_xact_lock($1)', [LOCKS.findingStep]);
    const answers = begin();
    const waiters = () =>
      approving.query('SELECT FROM pg_locks WHERE objid = $1 AND NOT granted', [LOCKS.findingStep]);
    await eventually(async () => (await waiters()).length === answers.length);
    await end(ending);
    await ending.query('COMMIT');
    await ending.end();
    return (await Promise.all(answers)).map(({ status }) => status).sort();
  };

  it('apply once when simultaneous', async () => {
    const id = await scene.finding(run);
    const answers = await waiting(
      () => ['explained', 'resolved'].map((state) => post([decision(id, state)]).then((answer) => answer)),
      () => Promise.resolve(),
    );
    expect(answers).toEqual([200, 409]);
    expect(await scene.steps(id)).toHaveLength(1);
  });

  it('wait for the end of a run, which respects them', async () => {
    const id = await scene.finding(run);
    const answers = await waiting(
      () => [post([decision(id)]).then((answer) => answer)],
      (ending) =>
        ending.query(
          `INSERT INTO finding_step (id, finding_id, state, reason, impact_usd, run_id)
           VALUES (gen_random_uuid(), $1, 'resolved', 'seen no longer', 0, $2)`,
          [id, run],
        ),
    );
    expect(answers).toEqual([409]);
  });

  it('accept a finding only by a person other than the requester of the payment', async () => {
    const alone = await scene.finding(run);
    for (const claimed of ['', 'chief-financial-officer']) {
      const { body } = await post([decision(alone, 'accepted')])
        .set('X-Actor', claimed)
        .expect(400);
      expect(body.errors?.[0]?.detail).toMatch(
        /^only a person can accept a difference.*X-Actor does not count.*--person/,
      );
    }
    expect(await scene.steps(alone)).toEqual([]);

    const { key: own, id: clientId } = await approving.proxy.client('app-and-judge', 'pay', 'reconcile');
    const pay = (as: string, actor: string) =>
      approving.proxy
        .post(as, '/payouts/airtime', {
          airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1 }],
        })
        .set('X-Actor', actor)
        .expect(200);
    const callId = (await pay(own, 'ada')).headers['x-call-id'] ?? '';
    const paid = await scene.finding(run, { callId, position: 0 });
    const accept = (as: string, actor: string) =>
      post([decision(paid, 'accepted')], as).set('X-Actor', actor);
    const { key: ownOfGrace } = await issueTo('app-and-judge', 'grace');
    expect((await accept(ownOfGrace, '').expect(403)).body).toMatchObject({
      code: 'own_approval',
      errors: [
        { pointer: '/decisions/0/state', detail: expect.stringMatching(/^You cannot accept a difference/) },
      ],
    });
    for (const claimed of ['Ada', 'grace']) {
      const { body } = await accept(key, claimed).expect(400);
      expect(body.errors?.[0]?.detail).toMatch(/with a personal key/);
    }
    await post([decision(paid, 'explained')], own).expect(200); // writes no amount off
    await post([decision(paid, 'reopened')], own).expect(200);

    const { key: keyOfAda } = await issueTo('reconciler', 'ada');
    expect((await accept(keyOfAda, 'grace').expect(403)).body.code).toBe('own_approval');
    const { key: keyOfGrace } = await issueTo('reconciler', 'grace');
    const clients = approving.proxy.app.get(ClientsService, { strict: false });
    await clients.allowSignIn('reconciler', {
      issuer: 'https://id.example',
      subject: 'ada',
      person: 'grace',
    });
    const hash = (issuer: string | null) => personHash(clientId, issuer, 'ada');
    const setIssuer = async (issuer: string | null) =>
      approving.query('UPDATE person SET issuer = $1, sha256 = $2 WHERE sha256 = ANY ($3)', [
        issuer,
        hash(issuer),
        [hash(null), hash('https://id.example')],
      ]);
    await setIssuer('https://id.example');
    // paid as `ada` with a token
    expect((await accept(keyOfGrace, '').expect(403)).body.code).toBe('own_approval');
    await setIssuer(null);
    await approving.query("DELETE FROM person_identity WHERE kind = 'token_subject'");
    await accept(keyOfGrace, 'hopper').expect(200);
    expect(await scene.steps(paid)).toContainEqual(
      expect.objectContaining({ state: 'accepted', actor: 'grace' }),
    );
  });

  it('apply by the thousand', async () => {
    const ids = await scene.findings(
      run,
      Array.from({ length: 5_000 }, () => ({})),
    );
    const reason = 'x'.repeat(300); // above the body limit of other routes
    const { body } = await post(ids.map((id) => decision(id, 'resolved', { reason }))).expect(200);
    expect(body.decided).toBe(5_000);
    const tooMany = await post([...ids, ...ids, ids[0]].map((id) => decision(id as string))).expect(400);
    expect(tooMany.body.errors?.[0]?.detail).toBe('must have at most 10000 items, and has 10001');
  });

  async function issueTo(client: string, person: string): Promise<{ key: string }> {
    return approving.proxy.app.get(ClientsService, { strict: false }).issueKey(client, { person });
  }
});
