import { randomBytes } from 'node:crypto';
import { AT_START } from '../../src/access/clients/changes';
import { ClientsService } from '../../src/access/clients/clients.service';
import { NO_LIMITS } from '../../src/access/clients/limits/limits';
import { DualControlService } from '../../src/access/dual-control/dual-control.service';
import { mergePeople } from '../../src/access/people/merges';
import { PersonsService } from '../../src/access/people/persons.service';
import { ActivityJournal } from '../../src/journal/activity/activity';
import { newId } from '../../src/platform/database/ids';
import { SidePrisma } from '../../src/platform/database/pools/side-prisma';
import supertest from '../support/http/supertest';
import { ApprovalScene, startApproving } from '../support/payments/approving';
import { FindingsScene } from '../support/reconciliation/findings-scene';

const ISSUER = 'https://id.example';

/** Ada has many identities: she requests as one of them, and decides as another. Grace is another person. */
describe('one human', () => {
  let approving: ApprovalScene;
  let clients: ClientsService;
  let scene: FindingsScene;
  let run: string;
  /** Keys of all identities, by client name. */
  const keys: Record<string, Record<string, string>> = {};

  beforeAll(async () => {
    approving = await startApproving({ dualControl: true });
    clients = approving.proxy.app.get(ClientsService, { strict: false });
    scene = new FindingsScene(approving.proxy.database);
    run = await scene.run();
    await clients.create('reconciler', ['reconcile', 'audit']);
    await clients.create('admin', ['admin', 'audit']);
    await clients.create('shop', ['read']);
    await clients.create('pages', ['pay']);
    await clients.update('shop', { maxItems: 5 });
    await renameAtProvider('ada', 'lovelace');
    for (const client of ['approver', 'reconciler', 'admin', 'pages']) {
      const people = ['ada', 'ADA', 'lovelace', 'hopper', 'grace'];
      keys[client] = Object.fromEntries(await Promise.all(people.map((person) => keyOf(client, person))));
    }
    await merge('ada', 'hopper');
  });
  afterAll(() => approving.close());

  const keyOf = async (client: string, person: string) =>
    [person, (await clients.issueKey(client, { person })).key] as const;
  const merge = (kept: string, merged: string) =>
    mergePeople(
      approving.proxy.app.get(SidePrisma, { strict: false }),
      new ActivityJournal(),
      { kept, merged },
      AT_START,
    );
  /** Signs the same subject in under another name. */
  const renameAtProvider = async (before: string, after: string) => {
    const { id } = await clients.allowSignIn('admin', {
      issuer: ISSUER,
      subject: 'sub-of-ada',
      person: before,
    });
    await clients.revokeKey(id);
    await clients.allowSignIn('admin', { issuer: ISSUER, subject: 'sub-of-ada', person: after });
  };
  const seen = async (name: string, issuer: string | null = null, clientId = approving.clientId) => {
    const persons = approving.proxy.app.get(PersonsService, { strict: false });
    const found = await persons.find(
      { clientId, rights: '1', limits: NO_LIMITS },
      { issuer, name },
      { timeoutMs: 5_000, isPayment: true },
    );
    return found.id;
  };
  const by = async (person: string, more: object = {}) => ({ person_id: await seen(person), ...more });
  const keyIdOf = async (client: string, person: string) => {
    const sql =
      'SELECT k.id FROM api_key k JOIN client c ON c.id = k.client_id WHERE c.name = $1 AND k.person = $2';
    const [key] = await approving.query<{ id: string }>(sql, [client, person]);
    return key?.id ?? '';
  };
  const claimed = { actor_source: 'claimed' } as const;

  /** Requester columns of a record. */
  const REQUESTERS: Record<string, () => Promise<object>> = {
    'a claimed name': () => by('Ada', claimed),
    'the claimed name of a merged person': () => by('HOPPER', claimed),
    'the claimed name of a person with a sign-in': () => by('lovelace', claimed),
    'a subject who signs in': async () => ({
      person_id: await seen('sub-of-ada', ISSUER),
      actor_source: 'session',
    }),
    'a subject like the name': async () => ({
      person_id: await seen('Ada', 'https://other.example'),
      actor_source: 'token',
    }),
    'a subject who acts for another': async () =>
      by('alan', { actor_source: 'token', token: { act: { person_id: await seen('sub-of-ada', ISSUER) } } }),
    'a merged customer': async () => {
      const id = await seen('customer-17');
      await merge('lovelace', id).catch(() => undefined);
      return { person_id: id, ...claimed };
    },
    'a personal key': async () => ({ key_id: await keyIdOf('pages', 'hopper') }),
  };

  const send = (path: string, key: string, body: object) =>
    supertest(approving.proxy.url)
      .post(path as '/v1/approvals/{id}/approve')
      .set('X-API-Key', key)
      .send(body);
  /** Decisions about a call. A permitted one returns another status than 403. */
  const ACTS: Record<
    string,
    (call: string, person: string) => PromiseLike<{ status: number; body: object }>
  > = {
    approve: (call, person) =>
      send(`/v1/approvals/${call}/approve`, keys.approver?.[person] ?? '', { reason: 'x' }),
    reject: (call, person) =>
      send(`/v1/approvals/${call}/reject`, keys.approver?.[person] ?? '', { reason: 'x' }),
    settle: (call, person) =>
      send(`/v1/calls/${call}/resolution`, keys.approver?.[person] ?? '', {
        outcome: 'not_executed',
        reason: 'x',
      }),
    accept: async (callId, person) => {
      const id = await scene.finding(run, { callId, position: 0 });
      const decisions = [{ finding_id: id, state: 'accepted', reason: 'x' }];
      return send('/v1/reconciliation/findings/decisions', keys.reconciler?.[person] ?? '', { decisions });
    },
  };

  it.each(Object.keys(REQUESTERS))('cannot decide on their own request, made by %s', async (requester) => {
    const requested = await REQUESTERS[requester]?.();
    const call = await approving.hold({ ...requested });
    for (const [act, decide] of Object.entries(ACTS)) {
      for (const person of ['ada', 'ADA', 'lovelace', 'hopper']) {
        const { status, body } = await decide(call, person);
        expect([act, person, status, body]).toMatchObject([act, person, 403, { code: 'own_approval' }]);
      }
      if (act !== 'approve') expect([act, (await decide(call, 'grace')).status]).not.toContain(403);
    }
  });

  const expand = async (person: string) => {
    const request = supertest(approving.proxy.url)
      .patch('/v1/clients/shop')
      .set('X-API-Key', keys.admin?.[person] ?? '');
    return ((await request.send({ max_items: 6 }).expect(202)).body as { change_id: string }).change_id;
  };

  it.each(['ada', 'ADA', 'lovelace', 'hopper'])(
    'cannot decide on a change that they requested as %s',
    async (requester) => {
      const change = await expand(requester);
      for (const decision of ['approve', 'reject'])
        for (const person of ['ada', 'ADA', 'lovelace', 'hopper']) {
          const { body } = await send(`/v1/changes/${change}/${decision}`, keys.admin?.[person] ?? '', {
            reason: 'x',
          });
          expect([person, body.code]).toEqual([person, 'own_approval']);
        }
      await send(`/v1/changes/${change}/reject`, keys.admin?.grace ?? '', { reason: 'x' }).expect(200);
    },
  );

  it('cannot combine incompatible scopes under two names, or by a sign-in with a new name', async () => {
    await keyOf('shop', 'curie');
    const create = (person: string) =>
      send('/v1/clients', keys.admin?.grace ?? '', {
        name: 'cash',
        scopes: ['pay'],
        daily_cap_usd: 1,
        person,
      });
    const allowed = (await create('curie').expect(202)).body as { change_id?: string };
    await send(`/v1/changes/${allowed.change_id}/reject`, keys.admin?.ada ?? '', { reason: 'x' }).expect(200);
    await merge('curie', 'ada');
    for (const person of ['ADA', 'curie'])
      expect((await create(person)).body.code).toBe('incompatible_scopes');
    const dualControl = approving.proxy.app.get(DualControlService, { strict: false });
    const signIn = { issuer: ISSUER, subject: 'sub-of-ada', person: 'ada-renamed' };
    await expect(dualControl.allowSignIn('pages', signIn, AT_START)).rejects.toMatchObject({
      code: 'incompatible_scopes',
    });
  });

  it('has one row, even when two keys of a new name are issued at the same moment', async () => {
    await Promise.all(['eve', 'Eve', 'eve', 'EVE'].map((person) => clients.issueKey('shop', { person })));
    const rows = await approving.query("SELECT DISTINCT person_id FROM api_key WHERE lower(person) = 'eve'");
    expect(rows).toEqual([{ person_id: expect.any(String) }]);
  });

  it('is distinct from the namesake at another client after a merge of one of them', async () => {
    const other = (await clients.create('other', ['pay'])).id;
    const [here, there] = [await seen('c-9'), await seen('c-9', null, other)];
    expect(here).not.toBe(there);
    await merge('grace', here);
    const [ofGrace, ofOthers] = [
      await approving.hold({ person_id: here, ...claimed }),
      await approving.hold({ person_id: there, ...claimed }),
    ];
    expect((await ACTS.reject?.(ofGrace, 'grace'))?.status).toBe(403);
    expect((await ACTS.reject?.(ofGrace, 'ada'))?.status).toBe(200);
    expect((await ACTS.reject?.(ofOthers, 'grace'))?.status).toBe(200);
  });

  it('owns a key that was issued after the claim', async () => {
    const call = await approving.hold(await by('niklaus', claimed));
    const [, key] = await keyOf('approver', 'Niklaus');
    await send(`/v1/approvals/${call}/reject`, key, { reason: 'x' }).expect(403);
  });

  it('stays known while an erased name counts', async () => {
    const id = await seen('sub-of-ada', ISSUER);
    const call = await approving.hold({ person_id: id, actor_source: 'session' });
    await approving.query('UPDATE person SET name = NULL, salt = NULL WHERE id = $1', [id]);
    expect((await ACTS.reject?.(call, 'ada'))?.status).toBe(403);
    await approving.query("UPDATE person SET name = 'sub-of-ada', salt = $2 WHERE id = $1", [
      id,
      randomBytes(16),
    ]);
  });

  it('cannot be merged with itself in the database', async () => {
    const id = newId();
    await approving.query("INSERT INTO person (id, sha256) VALUES ($1, sha256('x'))", [id]);
    await expect(approving.query('UPDATE person SET same_as = id WHERE id = $1', [id])).rejects.toThrow(
      /person_same_as/,
    );
  });
});
