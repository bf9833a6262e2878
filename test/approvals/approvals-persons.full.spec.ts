import { Decimal } from 'decimal.js';
import { ClientsService } from '../../src/access/clients/clients.service';
import { ACTOR_SOURCES, personHash } from '../../src/access/people/person';
import { newId } from '../../src/platform/database/ids';
import supertest from '../support/http/supertest';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { AIRTIME } from '../support/payments/paying';

/** Adds a person to the app's client. @returns the person's ID. */
async function addPerson({ query, clientId }: ApprovalScene, name?: string): Promise<string> {
  const id = newId();
  await query(
    "INSERT INTO person (id, client_id, sha256, name, salt) VALUES ($1, $2, sha256($3), $4, sha256('salt'))",
    [id, clientId, Buffer.from(id), name ?? `person-${id}`],
  );
  return id;
}

/** Four eyes compare the clients, the keys, and the known names of people. */
describe('an approval by a second person', () => {
  let approving: ApprovalScene;
  beforeAll(async () => (approving = await startApproving()));
  afterAll(() => approving.close());

  /** Returns a key of the approver for a person. */
  const issueKey = async (person: string) =>
    (await approving.proxy.app.get(ClientsService, { strict: false }).issueKey('approver', { person })).key;

  it.each(['approve', 'reject'] as const)(
    'is required, with a key of that person, to %s a call that a person requested',
    async (decision) => {
      const [ada, grace] = [await issueKey('ada.l'), await issueKey('grace')];
      const person = await addPerson(approving, 'Ada.L');
      const asked = await approving.hold({ person_id: person, actor_source: 'claimed' });
      const refused = async (key: string | undefined, actor: string) => {
        const { body } = await approving.decide(decision, asked, {}, key).set('X-Actor', actor).expect(403);
        expect(body.code).toBe('own_approval');
        return body.detail;
      };
      for (const actor of ['ada.l', 'ADA.L']) await refused(undefined, actor);
      for (const actor of ['grace', '']) {
        expect(await refused(undefined, actor)).toContain('keys issue --client approver --person');
      }
      for (const actor of ['', 'grace']) await refused(ada, actor);
      const { body } = await approving.decide(decision, asked, {}, grace).set('X-Actor', 'alan').expect(200);
      expect(body.approval?.decided_by?.actor).toBe('grace');
    },
  );

  // The requester has another name at the provider than in the console.
  it('is required after a request in a page session or with a token, also without the name', async () => {
    const person = { issuer: 'https://id.example', subject: 'sub-of-hedy' };
    const { clientId, proxy, query } = approving;
    await proxy.app
      .get(ClientsService, { strict: false })
      .allowSignIn('approver', { ...person, person: 'hedy' });
    const [hedy, grace] = [await issueKey('Hedy'), await issueKey('grace')];
    const id = await addPerson(approving);
    const sha256 = personHash(clientId, person.issuer, person.subject);
    await query('UPDATE person SET issuer = $2, name = $3, sha256 = $4 WHERE id = $1', [
      id,
      person.issuer,
      person.subject,
      sha256,
    ]);
    const asked = await approving.hold({ person_id: id, actor_source: 'session' });
    const customer = { person_id: await addPerson(approving), actor_source: 'token' };
    const forCustomer = await approving.hold({ ...customer, token: { act: { person_id: id } } });
    for (const decision of ['approve', 'reject'] as const)
      for (const call of [asked, forCustomer])
        expect((await approving.decide(decision, call, {}, hedy).expect(403)).body.code).toBe('own_approval');
    await query('UPDATE person SET name = NULL, salt = NULL WHERE id = $1', [id]);
    expect((await approving.decide('reject', asked, {}, hedy).expect(403)).body.code).toBe('own_approval');
    await approving.decide('reject', asked, {}, grace).expect(200);
  });

  it('is impossible after the requesting key was revoked, but a rejection is not', async () => {
    const [asked, kept] = [await approving.hold(), await approving.hold()];
    const key = await approving.query(
      "UPDATE api_key SET revoked_at = now() WHERE id = (SELECT (record::json ->> 'key_id')::uuid FROM " +
        'intent WHERE id = $1) RETURNING id',
      [asked],
    );
    const { body } = await approving.decide('approve', asked).expect(409);
    expect(body.code).toBe('key_revoked');
    await approving.decide('reject', asked).expect(200);
    await approving.query('UPDATE api_key SET revoked_at = NULL WHERE id = $1', [key[0]?.id]);
    await approving.decide('approve', kept).expect(200);
  });

  it.each(ACTOR_SOURCES)(
    'is impossible after a revocation of the requester with their own credential: %s',
    async (source) => {
      const isTheirs = source !== 'key' && source !== 'claimed';
      const person = { person_id: await addPerson(approving), actor_source: source };
      const asked = await approving.hold(person);
      await approving.query(
        'UPDATE person SET revoked_at = (SELECT recorded_at FROM intent WHERE id = $2) WHERE id = $1',
        [person.person_id, asked],
      );
      const later = await approving.hold({ ...person, recorded_at: new Date() });
      const grace = await issueKey('grace');
      const { body: shown } = await approving.proxy.get(grace, `/v1/approvals/${asked}` as const).expect(200);
      expect(shown.not_allowed?.code).toBe(isTheirs ? 'key_revoked' : undefined);
      await approving.decide('approve', asked, {}, grace).expect(isTheirs ? 409 : 200);
      await approving.decide('approve', later, {}, grace).expect(200);
    },
  );

  it('is rejected and not recorded with an invalid X-Actor', async () => {
    for (const actor of ['bob@corp.example', 'bob smith', '+2348012345678', 'b'.repeat(129)]) {
      const { body } = await approving.proxy
        .post(approving.app, '/payouts/airtime', AIRTIME)
        .set('X-Actor', actor)
        .expect(400);
      expect(body.code).toBe('invalid_actor');
    }
    const rows = await approving.query("SELECT DISTINCT person_id FROM refusal WHERE code = 'invalid_actor'");
    expect(rows).toEqual([{ person_id: null }]);
  });

  it.each(['approve', 'reject'] as const)('never identifies the decider by X-Actor: %s', async (decision) => {
    const { body } = await approving
      .decide(decision, await approving.hold())
      .set('X-Actor', 'grace')
      .expect(200);
    expect(body.approval?.decided_by).toMatchObject({ client: { name: 'approver' }, actor: null });
  });
});

/** The requester of a payment could hold a shared key of the approver. */
describe('an approval with dual control', () => {
  let approving: ApprovalScene;
  beforeAll(async () => (approving = await startApproving({ dualControl: true })));
  afterAll(() => approving.close());

  it.each(['approve', 'reject'] as const)(
    'requires a personal key to %s a call without a requester',
    async (decision) => {
      const asked = await approving.hold();
      const { body } = await approving.decide(decision, asked).set('X-Actor', 'grace').expect(403);
      expect(body).toMatchObject({
        code: 'personal_key_required',
        detail: expect.stringContaining('keys issue'),
      });
      const clients = approving.proxy.app.get(ClientsService, { strict: false });
      const { key } = await clients.issueKey('approver', { person: 'grace' });
      await approving.decide(decision, asked, {}, key).expect(200);
    },
  );

  it('requires a personal key to settle a call', async () => {
    const { body } = await supertest(approving.proxy.url)
      .post(`/v1/calls/${approving.model}/resolution`)
      .set('X-API-Key', approving.approver.key)
      .send({ outcome: 'not_executed', reason: 'seen' })
      .expect(403);
    expect(body.code).toBe('personal_key_required');
  });
});

/** A call of 2.5 US dollars. */
describe('the limits of the requester', () => {
  let approving: ApprovalScene;
  let personId: string;
  let grace: string;

  beforeAll(async () => {
    approving = await startApproving();
    personId = await addPerson(approving);
    const clients = approving.proxy.app.get(ClientsService, { strict: false });
    grace = (await clients.issueKey('approver', { person: 'grace' })).key;
  });
  afterAll(() => approving.close());
  beforeEach(() => approving.reset());

  const limit = async (
    column: string,
    { ofClient, own }: { ofClient: string | null; own: string | null },
  ) => {
    await approving.query(`UPDATE client SET person_${column} = $2 WHERE id = $1`, [
      approving.clientId,
      ofClient,
    ]);
    await approving.query(`UPDATE person SET ${column} = $2 WHERE id = $1`, [personId, own]);
  };
  const shown = async (id: string) =>
    (await approving.proxy.get(grace, `/v1/approvals/${id}` as const).expect(200)).body.not_allowed;

  it.each([
    { ofClient: '2.499999', own: null, most: '2.499999' },
    { ofClient: '2.5', own: '2.4', most: '2.4' },
    { ofClient: null, own: '0.01', most: '0.01' },
  ])('apply to an item when it is approved: %j', async ({ most, ...limits }) => {
    const id = await approving.hold({ person_id: personId, actor_source: 'token' });
    await limit('max_item_usd', limits);
    expect(await shown(id)).toMatchObject({
      code: 'cap_exceeded',
      detail: expect.stringContaining('its person'),
      errors: [{ detail: expect.stringContaining(`at most ${most} for one item of this person`) }],
    });
    const { body } = await approving.decide('approve', id, {}, grace).expect(409);
    expect(body).toMatchObject({
      code: 'no_longer_allowed',
      detail: expect.stringContaining('(cap_exceeded)'),
    });
    expect(approving.upstream.received).toEqual([]);
    await limit('max_item_usd', { ofClient: '0.01', own: '2.5' }); // the person's own limit wins
    expect(await shown(id)).toBeNull();
    await approving.decide('approve', id, {}, grace).expect(200);
    await limit('max_item_usd', { ofClient: null, own: null });
  });

  it.each([
    ['daily_cap_usd', '4', '1.5', true],
    ['daily_cap_usd', '4', '1.500001', false],
    ['monthly_cap_usd', '2.4', '0', false],
  ] as const)(
    'predict, with a %s of %s and %s spent, whether an approval succeeds',
    async (column, own, spent, fits) => {
      const id = await approving.hold({ person_id: personId, actor_source: 'token' });
      await limit(column, { ofClient: '100', own });
      await approving.query(
        `INSERT INTO payer_spending VALUES ($1, (now() AT TIME ZONE 'UTC')::date, $2)
       ON CONFLICT (payer_id, day) DO UPDATE SET usd = EXCLUDED.usd`,
        [personId, spent],
      );
      const { body } = await approving.proxy.get(grace, `/v1/approvals/${id}` as const).expect(200);
      const after = new Decimal(spent).plus(2.5).toFixed();
      const period = column === 'daily_cap_usd' ? 'person_daily' : 'person_monthly';
      expect(body.caps?.[period]).toMatchObject({ cap_usd: own, spent_usd: spent, after_usd: after });
      expect([body.caps?.daily.cap_usd, body.caps?.fits]).toEqual([null, fits]);
      await approving.decide('approve', id, {}, grace).expect(fits ? 200 : 403);
      await limit(column, { ofClient: null, own: null });
    },
  );

  it('require an amount that counts against the cap of the person', async () => {
    const unknown = { items: [{}], total_usd: null };
    const id = await approving.hold({ person_id: personId, actor_source: 'token', ...unknown });
    await limit('daily_cap_usd', { ofClient: null, own: '1' });
    expect(await shown(id)).toMatchObject({ code: 'amount_required' });
    await approving.decide('approve', id, {}, grace).expect(409);
    expect(approving.upstream.received).toEqual([]);
  });
});
