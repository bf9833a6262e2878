import { everythingIn } from '../../support/databases/everything';
import { askAs, DOCUMENTED, OBSERVED } from '../../support/http/interface';
import { answer, FakeUpstream } from '../../support/network/fake-upstream';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** A unique person. Every occurrence of these texts comes from these requests. */
const EMAIL = 'canary.bird+x@nest.example';
const PHONE = '+2349099887766';
const HANDLE = '@CanaryBird';
const TEXT = `${EMAIL} ${PHONE} ${HANDLE}`;
const CANARY = /canary|90\D?9988\D?7766/i;

/** Tables that may contain people. All can be erased. `search_entry` is derived from them. */
const ERASABLE = ['intent_body', 'outcome_body', 'access_filters', 'search_entry'];

const PHONE_FIELDS = ['phoneNumber', 'phone_number'];
const SHORT = ['email', 'momoCode', 'receiver', 'wallet'];
const WORDS = ['currency', 'meta'];

/** A body with the canary in every text field. */
function named(body: unknown, key = ''): unknown {
  if (Array.isArray(body)) return body.map((element) => named(element, key));
  if (typeof body === 'object' && body !== null) {
    return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, named(value, name)]));
  }
  if (typeof body !== 'string' || WORDS.includes(key)) return body;
  if (PHONE_FIELDS.includes(key)) return PHONE;
  return SHORT.includes(key) ? EMAIL : TEXT;
}

describe('the permanent records of people', () => {
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let app: string;
  let approver: string;
  let auditor: string;
  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    proxy = await startProxy({
      upstreamBaseUrl: upstream.url,
      duplicateGuard: true,
      duplicateWindowSeconds: 30,
    });
    app = (await proxy.client('app', 'pay', 'write', 'read', 'account')).key;
    auditor = (await proxy.client('auditor', 'audit')).key;
    approver = (await proxy.client('approver', 'approve', 'admin')).key;
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const echo = {
    chiRef: TEXT,
    id: TEXT,
    issueID: EMAIL,
    status: `sent to ${PHONE.slice(1)}`,
    valueInUSD: 1,
    [EMAIL]: TEXT,
  };
  const echoing = answer(
    200,
    { status: 'success', data: [echo] },
    { 'content-type': `application/json; for="${EMAIL}"`, 'x-who': TEXT, 'set-cookie': `who=${EMAIL}` },
  );

  it('name no person in any field of any operation', async () => {
    upstream.behaviour = echoing;
    const asked = [...DOCUMENTED, ...OBSERVED];
    const statuses = [];
    for (const asking of asked) {
      const path = asking.path.replace(
        /=[^&]*Zk3[^&]*|=user-1[^&]*|=sub-account[^&]*/,
        `=${encodeURIComponent(TEXT)}`,
      );
      const body = asking.body && (named(asking.body) as Record<string, unknown>);
      const { status } = await askAs(proxy, app, { ...asking, path, ...(body && { body }) })
        .set('X-Request-Id', EMAIL)
        .set('Authorization', `Basic ${EMAIL}`)
        .set('Cookie', `session=${EMAIL}`);
      statuses.push(`${asking.operation} ${status}`);
    }
    expect(statuses).toEqual(asked.map(({ operation }) => `${operation} 200`));
    // As handles without an email, as a receiver, and in rejected requests.
    await proxy.post(app, '/payouts/credit', { credits: [{ twitter: HANDLE, valueInUSD: 1 }] }).expect(200);
    for (const receiver of [EMAIL, PHONE, HANDLE]) {
      await proxy
        .post(app, '/account/transfer', {
          receiver,
          amount: 1,
          wallet: receiver === PHONE ? PHONE.slice(1) : EMAIL,
        })
        .expect(200);
    }
    await proxy
      .post(app, '/payouts/airtime', { [EMAIL]: TEXT, airtimes: [{ [PHONE]: TEXT, countryToSend: TEXT }] })
      .expect(400);
    const momo = { countryToSend: 'Nigeria', momoCode: 'MPS', phoneNumber: PHONE, valueInUSD: 1 };
    const references = [`for ${TEXT}`, `r-${PHONE.slice(1)}`, 'r-2340000000000'];
    for (const reference of references) {
      const { headers } = await proxy
        .post(app, '/payouts/mobile-money', { momos: [{ ...momo, reference }] })
        .expect(200);
      const asked = `/v1/audit/calls?reference=${encodeURIComponent(reference)}` as const;
      const { body } = await proxy.get(auditor, asked).expect(200); // The original text finds masked ones.
      expect(body.calls.map(({ id }) => id)).toEqual([headers['x-call-id']]);
    }
  });

  it('name no person mentioned in a reason', async () => {
    upstream.behaviour = (_request, _response, socket) => socket.destroy();
    const { body } = await proxy
      .post(app, '/payouts/credit', { credits: [{ email: EMAIL, valueInUSD: 7 }] })
      .expect(502);
    const reason = `${TEXT} called from ${PHONE.slice(1)}`;
    const base = `${proxy.url}/v1`;
    const as = (path: string, wish: object) =>
      fetch(`${base}${path}`, {
        method: 'POST',
        headers: { 'X-API-Key': approver, 'Content-Type': 'application/json' },
        body: JSON.stringify(wish),
      });
    expect((await as(`/calls/${body.call_id}/resolution`, { outcome: 'confirmed', reason })).status).toBe(
      200,
    );
    const stopped = await as('/stops', { operation: 'POST /send', reason });
    expect(stopped.status).toBe(201);
  });

  it.each([
    [EMAIL, 'an e-mail address'],
    [`order:${PHONE}:1`, 'an international number'],
    [`pay-${HANDLE}`, 'a handle'],
    [`airtime-${PHONE.slice(1)}-1`, 'the number of its own recipient'],
  ])('reject an idempotency key like %s, which is %s', async (key) => {
    upstream.behaviour = echoing;
    const sent = upstream.received.length;
    const item = { countryToSend: 'Kenya', phoneNumber: PHONE, valueInUSD: 1 };
    const { body } = await proxy
      .post(app, '/payouts/airtime', { airtimes: [item] })
      .set('Idempotency-Key', key)
      .expect(400);
    expect(body).toMatchObject({
      code: 'invalid_idempotency_key',
      error: expect.stringMatching(/an ID of your own/),
    });
    await proxy.post(app, '/payouts/airtime', {}).set('Idempotency-Key', EMAIL).expect(400);
    expect(upstream.received.length).toBe(sent);
  });

  it.each([
    '2349099887766',
    '09099887766',
    '002349099887766',
    '9099887766',
    'pay-234-90-9988-7766',
    'user09099887766',
    '(0)90.9988.7766',
  ])('contain no number written as %s in a key, an actor or a request ID', async (spelled) => {
    upstream.behaviour = echoing;
    const sent = upstream.received.length;
    const airtimes = [{ countryToSend: 'Nigeria', phoneNumber: PHONE, valueInUSD: 1 }];
    const pay = (body: object, headers: Record<string, string>) =>
      proxy.post(app, '/payouts/airtime', body).set(headers).expect(400);
    const refused = await pay({ airtimes }, { 'Idempotency-Key': spelled });
    expect(refused.body).toMatchObject({
      code: 'invalid_idempotency_key',
      error: expect.stringMatching(/phone number/),
    });
    if (spelled !== '9099887766') {
      // Numbers in an unreadable request belong to no known field, and a bare end may be anything.
      await pay({}, { 'Idempotency-Key': spelled });
      expect((await pay({ airtimes }, { 'X-Actor': spelled })).body.code).toBe('invalid_actor');
      const { headers } = await pay({}, { 'X-Request-Id': spelled });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f]{8}-/);
    }
    expect(upstream.received.length).toBe(sent);
  });

  it.each(['payroll-2026-11-0042', '1763632800000', '01ARZ3NDEKTSV4RRFFQ69G5FAV', 'order-254712345678'])(
    'accept %s as a key if it is not a recipient of the call',
    async (key) => {
      upstream.behaviour = echoing;
      // The upstream's texts leave each payout in doubt, which blocks the same content.
      const item = { countryToSend: 'Nigeria', phoneNumber: PHONE, valueInUSD: key.length };
      await proxy
        .post(app, '/payouts/airtime', { airtimes: [item] })
        .set('Idempotency-Key', key)
        .expect(200);
    },
  );

  it('leave no person in a table without erasure, and nothing of headers and unknown fields', async () => {
    const all = await everythingIn(proxy.database);
    for (const table of ERASABLE) expect([table, CANARY.test(all[table] ?? '')]).toEqual([table, true]);
    const kept = Object.keys(all).filter((table) => !ERASABLE.includes(table));
    expect(kept.length).toBeGreaterThan(20);
    for (const table of kept) expect([table, all[table]]).toEqual([table, expect.not.stringMatching(CANARY)]);
    const text = Object.values(all).join('\n');
    expect(text).not.toMatch(/Bearer|session=|set-cookie|x-who|who=/i);
    expect(text).not.toContain(app);
    // Neither the names nor the values of rejected fields.
    expect(all.refusal).toMatch(/"pointer":"\/…"/);
  });
});
