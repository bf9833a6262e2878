import { ClientsService } from '../../src/access/clients/clients.service';
import { auditCommands } from '../../src/cli/audit/audit';
import { newSigningKey } from '../../src/history/log/note';
import { Secret } from '../../src/platform/config/secrets/secret';
import { RegisterScene, startRegistering } from '../support/access/registering';
import type { ChangeRecord } from '../support/http/api';
import supertest from '../support/http/supertest';
import { cliOf } from '../support/processes/cli';

const KEY = newSigningKey('test');

/** Ada and Bob are administrators. Each test tries to change alone as Ada what two persons must agree to. */
describe('dual control of a register', () => {
  let api: RegisterScene;
  let clients: ClientsService;
  let ada: string;
  let bob: string;
  const audit = cliOf(auditCommands);

  beforeAll(async () => {
    api = await startRegistering({ dualControl: true, logSigningKey: new Secret(KEY) });
    const { app, database } = api.approving.proxy;
    clients = app.get(ClientsService, { strict: false });
    ada = (await clients.issueKey('admin', { person: 'ada' })).key;
    bob = (await clients.issueKey('admin', { person: 'bob' })).key;
    const { url, ownerUrl } = database;
    Object.assign(process.env, { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl, LOG_SIGNING_KEY: KEY });
  });
  afterAll(async () => {
    delete process.env.LOG_SIGNING_KEY;
    await api.approving.close();
  });

  const decide = (key: string, id: string, decision: 'approve' | 'reject' = 'approve') =>
    supertest(api.approving.proxy.url)
      .post(`/v1/changes/${id}/${decision}` as `/v1/changes/{id}/approve`)
      .set('X-API-Key', key)
      .send({ reason: 'agreed with ada@example.com' });
  const changes = async (name: string, status = 'pending'): Promise<ChangeRecord[]> => {
    const { body } = await api.approving.proxy.get(ada, `/v1/changes?status=${status}`).expect(200);
    return body.changes.filter(({ client }) => client === name);
  };
  const listOf = async (name: string) =>
    (await api.approving.proxy.get(ada, `/v1/clients/${name}/beneficiaries`).expect(200)).body.beneficiaries;
  /** Requests a change as Ada. @returns the ID of the pending change. */
  const ask = async (name: string, body: object) => {
    const answer = await api.change(name, body, ada).expect(202);
    return (answer.body as unknown as { change_id: string }).change_id;
  };
  const allow = async (name: string, ...add: string[]) => {
    await decide(bob, await ask(name, { list: 'allowed', add })).expect(200);
  };

  it('holds an allowed recipient until another person approves', async () => {
    const { name, key } = await api.client({ beneficiariesOnly: true });
    const phone = api.newPhone();
    const id = await ask(name, { list: 'allowed', add: [phone, `${phone} `], reason: `Case 17 of ${phone}` });
    await api.pay(key, [phone]).expect(403);
    expect(await listOf(name)).toEqual([]);
    const masked = `+254••••${phone.slice(-4)}`;
    expect(await changes(name)).toMatchObject([
      {
        id,
        kind: 'change_client',
        expands: ['beneficiaries'],
        before: {},
        after: { list: 'allowed', recipients: [masked] },
        holders: [{ person: null }],
        requested_by: { person: 'ada' },
      },
    ]);
    await decide(ada, id).expect(403);
    await decide(api.admin, id).set('X-Actor', 'bob').expect(403);
    await api.pay(key, [phone]).expect(403);
    await decide(bob, id).expect(200);
    await api.pay(key, [phone]).expect(200);
    const auditor = (await clients.issueKey('approver', {})).key;
    const path = `/v1/activity?client=${name}` as const;
    const { activity } = (await api.approving.proxy.get(auditor, path).expect(200)).body;
    expect(activity.slice(0, 3)).toMatchObject([
      {
        action: 'beneficiary_added',
        by: { actor: 'bob' },
        reason: `change ${id}`,
        after: { recipient: masked },
      },
      { action: 'change_approved', by: { actor: 'bob' }, after: { change_id: id } },
      { action: 'change_requested', by: { actor: 'ada' }, after: { change_id: id, list: 'allowed' } },
    ]);
    const [{ text } = { text: '' }] = await api.approving.query<{ text: string }>(
      `SELECT string_agg(t, ' ') AS text
       FROM (SELECT p::text AS t FROM pending_change p UNION ALL SELECT a::text FROM activity a) AS x`,
    );
    for (const secret of [phone.slice(4), 'ada@example.com']) expect(text).not.toContain(secret);
  });

  it('holds the removal of a block, by name and by entry ID', async () => {
    const { name, key } = await api.client();
    const [phone, other] = [api.newPhone(), api.newPhone()];
    await api.block(name, phone, other);
    const [entry] = await listOf(name);
    for (const remove of [[phone], [entry?.id ?? '']]) {
      await decide(bob, await ask(name, { list: 'blocked', remove }), 'reject').expect(200);
    }
    const id = await ask(name, { list: 'blocked', remove: [phone] });
    expect((await changes(name))[0]?.after).toEqual({ list: 'blocked', recipients: [entry?.recipient] });
    await api.pay(key, [phone]).expect(403);
    await decide(bob, id).expect(200);
    await api.pay(key, [phone]).expect(200);
    await api.pay(key, [other]).expect(403);
  });

  it('applies restrictions at once, with any key', async () => {
    const { name, key } = await api.client({ beneficiariesOnly: true });
    const phone = api.newPhone();
    await allow(name, phone);
    await api.pay(key, [phone]).expect(200);
    await api.block(name, phone);
    await api.pay(key, [phone]).expect(403);
    const { removed } = (await api.change(name, { list: 'allowed', remove: [phone] }).expect(200)).body;
    expect(removed).toHaveLength(1);
  });

  it('applies changes without effect at once', async () => {
    const { name } = await api.client();
    const phone = api.newPhone();
    await allow(name, phone);
    expect(
      (await api.change(name, { list: 'allowed', add: [phone] }, ada).expect(200)).body.added,
    ).toHaveLength(1);
    expect(
      (await api.change(name, { list: 'blocked', remove: [phone] }, ada).expect(200)).body.removed,
    ).toEqual([]);
    expect(await changes(name)).toEqual([]);
  });

  it.each(['allowed', 'blocked'] as const)(
    'rejects a change of %s, which would apply only in part',
    async (list) => {
      const { name } = await api.client();
      const [kept, added] = [api.newPhone(), api.newPhone()];
      if (list === 'allowed') await allow(name, kept);
      else await api.block(name, kept);
      const before = await listOf(name);
      const { body } = await api.change(name, { list, add: [added], remove: [kept] }, ada).expect(400);
      expect(body.errors?.map(({ pointer }) => pointer)).toEqual(['/add', '/remove']);
      expect([await listOf(name), await changes(name)]).toEqual([before, []]);
    },
  );

  it('requires a person as the requester', async () => {
    const { name } = await api.client();
    const { body } = await api
      .change(name, { list: 'allowed', add: ['@ada'] })
      .set('X-Actor', 'ada')
      .expect(403);
    expect(body).toMatchObject({ code: 'personal_key_required' });
    expect(await changes(name)).toEqual([]);
  });

  it('voids an approval after the client or its keys have changed', async () => {
    const { name } = await api.client({ maxItems: 5 });
    const phone = api.newPhone();
    const stale = await ask(name, { list: 'allowed', add: [phone] });
    await clients.update(name, { maxItems: 4 });
    expect((await decide(bob, stale).expect(409)).body).toMatchObject({ code: 'change_superseded' });
    const again = await ask(name, { list: 'allowed', add: [phone] });
    await clients.issueKey(name, { person: 'mallory' });
    expect((await decide(bob, again).expect(409)).body).toMatchObject({ code: 'change_superseded' });
    expect(await listOf(name)).toEqual([]);
  });

  it('adds an entry once, and never lifts a block set in the meantime', async () => {
    const { name, key } = await api.client();
    const phone = api.newPhone();
    for (const id of [
      await ask(name, { list: 'allowed', add: [phone] }),
      await ask(name, { list: 'allowed', add: [phone, '@ada'] }),
    ]) {
      await decide(bob, id).expect(200);
    }
    expect((await listOf(name)).map(({ list }) => list)).toEqual(['allowed', 'allowed']);
    expect((await api.acts(name)).map(({ action }) => action)).toEqual([
      'beneficiary_added',
      'beneficiary_added',
    ]);
    await api.block(name, phone);
    const lifts = [
      await ask(name, { list: 'blocked', remove: [phone] }),
      await ask(name, { list: 'blocked', remove: [phone] }),
    ] as const;
    await decide(bob, lifts[0]).expect(200);
    await api.block(name, phone);
    await decide(bob, lifts[1]).expect(200);
    await api.pay(key, [phone]).expect(403);
  });

  it('removes an erased person, and does not add them afterwards', async () => {
    const [{ name }, blocking] = [await api.client(), await api.client()];
    const email = 'Canary.Bird@nest.example';
    const decided = await ask(name, { list: 'allowed', add: ['@other', email] });
    await decide(bob, decided, 'reject').expect(200);
    const waiting = await ask(name, { list: 'allowed', add: [email, '@other'] });
    await api.block(blocking.name, email);
    const lifting = await ask(blocking.name, { list: 'blocked', remove: [email] });
    const args = ['--recipient', email.toLowerCase(), '--reason', 'case 17', '--json', '--yes'];
    const erase = async () =>
      (JSON.parse((await audit('erase', ...args)).stdout) as { places: string[] }).places;
    const places = [decided, waiting, lifting].map((id) => `pending_change/${id}`);
    expect(await erase()).toEqual(expect.arrayContaining(places));
    expect((await changes(name))[0]?.after).toEqual({ list: 'allowed', recipients: [null, '@o••'] });
    expect((await changes(name, 'rejected'))[0]?.after).toEqual({
      list: 'allowed',
      recipients: ['@o••', null],
    });
    await decide(bob, waiting).expect(200);
    expect((await listOf(name)).map(({ recipient }) => recipient)).toEqual(['@o••']);
    await decide(bob, lifting).expect(200); // it names the entry
    expect(await listOf(blocking.name)).toEqual([]);
    expect(await erase()).toEqual([]);
  });
});
