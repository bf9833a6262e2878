import { Decimal } from 'decimal.js';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { PASSWORD_ACR, SECOND_FACTOR_ACR } from '../../support/access/provider';
import {
  approachCallback,
  open,
  SignInScene,
  signInAs,
  startSignInScene,
  Visitor,
} from '../../support/access/signing-in';
import supertest from '../../support/http/supertest';

const STEP_UP = '/session/sign-in?step_up=1&return_to=%2Fconsole%2Fapprovals';

describe('step-up authentication', () => {
  let scene: SignInScene;
  let url: string;
  let payerKey: string;

  beforeAll(async () => {
    scene = await startSignInScene({
      stepUp: { maxAgeSeconds: 300, acrValues: [SECOND_FACTOR_ACR], overUsd: '10' },
    });
    url = scene.proxy.url;
    await scene.allow('alice', 'ops', 'admin');
    await scene.allow('bob', 'approvers', 'approve');
    payerKey = (await scene.proxy.client('shop', 'pay', 'read')).key;
    const clients = scene.proxy.app.get(ClientsService, { strict: false });
    await clients.update('shop', { approvalOverUsd: new Decimal(1) });
  });
  afterAll(() => scene.close());

  const headersOf = ({ cookies, csrfToken }: Visitor) => ({
    Cookie: cookies.header,
    'X-CSRF-Token': csrfToken,
  });

  async function held(usd: number): Promise<string> {
    const body = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: usd }] };
    const { headers } = await scene.proxy.post(payerKey, '/payouts/airtime', body).expect(202);
    return headers['x-call-id'] ?? '';
  }
  const approve = (id: string, headers: Record<string, string>) =>
    supertest(url).post(`/v1/approvals/${id}/approve`).set(headers).send({ reason: 'Case 17' });

  it('is required to approve more than the threshold, and the error explains it', async () => {
    const bob = await signInAs(url, 'bob');
    const answer = await approve(await held(11), headersOf(bob)).expect(403);
    expect(answer.body).toMatchObject({ code: 'step_up_required' });
    expect(answer.headers['www-authenticate']).toBe(
      'Bearer error="insufficient_user_authentication", error_description="A more recent or stronger ' +
        `sign-in is required", acr_values="${SECOND_FACTOR_ACR}", max_age="300"`,
    );
  });

  it('is not required up to the threshold', async () => {
    const bob = await signInAs(url, 'bob');
    await approve(await held(10), headersOf(bob)).expect(200);
  });

  // A call settled as not executed may be paid again.
  it('is required to settle a call above the threshold', async () => {
    const settle = async (usd: number, visitor: Visitor) => {
      const { body } = await supertest(url)
        .post(`/v1/calls/${await held(usd)}/resolution`)
        .set(headersOf(visitor))
        .send({ outcome: 'not_executed', reason: 'Case 17' });
      return body.code;
    };
    const bob = await signInAs(url, 'bob');
    expect(await settle(11, bob)).toBe('step_up_required');
    expect(await settle(10, bob)).toBe('not_in_doubt');
    const strong = await signInAs(url, 'bob', { from: STEP_UP, secondFactor: true });
    expect(await settle(11, strong)).toBe('not_in_doubt');
  });

  it('permits the approval after a fresh sign-in, and returns to the page', async () => {
    const bob = await signInAs(url, 'bob', { from: STEP_UP, secondFactor: true });
    expect(bob.page).toContain('content="0;url=/console/approvals"');
    await approve(await held(11), headersOf(bob)).expect(200);
  });

  it('expires, and is required again', async () => {
    const bob = await signInAs(url, 'bob', { from: STEP_UP, secondFactor: true });
    const id = await held(11);
    await scene.proxy.database.query(
      `UPDATE console_session SET signed_in_at = now() - interval '301 seconds'
       WHERE signed_in_at IS NOT NULL`,
    );
    await approve(id, headersOf(bob)).expect(403);
  });

  it('requests a recent, strong sign-in despite an existing one at the provider', async () => {
    const { cookies } = await signInAs(url, 'bob');
    const begun = await open(cookies, `${url}${STEP_UP}`);
    const requested = new URL(begun.location ?? '').searchParams;
    expect(requested.get('max_age')).toBe('300');
    expect(requested.get('acr_values')).toBe(SECOND_FACTOR_ACR);
    const stronger = await signInAs(url, 'bob', { from: STEP_UP, secondFactor: true, cookies });
    await approve(await held(11), headersOf(stronger)).expect(200);
  });

  it('rejects a password alone', async () => {
    const { cookies, callback } = await approachCallback(url, 'bob', { from: STEP_UP });
    const { status, page } = await open(cookies, callback);
    expect(status).toBe(403);
    expect(page).toContain('A stronger sign-in is required');
    expect(page).not.toContain(PASSWORD_ACR);
    expect(cookies.values.has('payout_proxy')).toBe(false);
  });

  it('cannot be done with a key', async () => {
    const { key } = await scene.proxy.client('machine', 'approve', 'admin');
    const answer = await approve(await held(11), { 'X-API-Key': key }).expect(403);
    expect(answer.body).toMatchObject({ code: 'step_up_required' });
    const headers = { 'X-API-Key': key };
    await supertest(url)
      .post('/v1/clients')
      .set(headers)
      .send({ name: 'made', scopes: ['read'] })
      .expect(403);
  });

  it('is required to expand permissions, and not to stop a client', async () => {
    const weak = await signInAs(url, 'alice');
    const id = '01890000-0000-7000-8000-000000000000';
    const refused = [
      supertest(url)
        .post('/v1/clients')
        .set(headersOf(weak))
        .send({ name: 'made', scopes: ['read'] }),
      supertest(url).patch('/v1/clients/shop').set(headersOf(weak)).send({ daily_cap_usd: 100 }),
      supertest(url).post('/v1/clients/shop/keys').set(headersOf(weak)).send({}),
      supertest(url)
        .post('/v1/clients/shop/sign-ins')
        .set(headersOf(weak))
        .send({ person: 'x', subject: 'x' }),
      supertest(url)
        .post('/v1/clients/shop/beneficiaries')
        .set(headersOf(weak))
        .send({ list: 'allowed', add: ['x'] }),
      supertest(url).post(`/v1/changes/${id}/approve`).set(headersOf(weak)).send({ reason: 'Case 17' }),
      supertest(url).delete(`/v1/stops/${id}`).set(headersOf(weak)),
    ];
    const answers = await Promise.all(refused);
    expect(answers.map(({ status }) => status)).toEqual(refused.map(() => 403));
    expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['step_up_required']));
    const stop = await supertest(url)
      .post('/v1/stops')
      .set(headersOf(weak))
      .send({ client: 'shop', reason: 'Case 17' })
      .expect(201);
    const strong = await signInAs(url, 'alice', { from: STEP_UP, secondFactor: true });
    await supertest(url).delete(`/v1/stops/${stop.body.id}`).set(headersOf(strong)).expect(200);
  });
});
