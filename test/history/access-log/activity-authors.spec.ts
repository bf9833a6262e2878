import { userInfo } from 'node:os';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { auditCommands } from '../../../src/cli/audit/audit';
import { newSigningKey } from '../../../src/history/log/note';
import { Secret } from '../../../src/platform/config/secrets/secret';
import type { ActivityRecord } from '../../support/http/api';
import supertest from '../../support/http/supertest';
import { answer, FakeUpstream } from '../../support/network/fake-upstream';
import { eventually } from '../../support/payments/paying';
import { cliOf } from '../../support/processes/cli';
import { startProxy, TestProxy } from '../../support/processes/proxy';

describe('the authors of administrative acts', () => {
  const signingKey = newSigningKey('test');
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let admin: { id: string; key: string };

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    upstream.behaviour = answer(200, {
      status: 'success',
      data: { error: 'None', data: [{ chiRef: 'chi-1' }] },
    });
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, logSigningKey: new Secret(signingKey) });
    await proxy.startWorker();
    admin = await proxy.client('admin', 'admin');
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
  });

  const acts = async (query = ''): Promise<ActivityRecord[]> =>
    (await proxy.get(admin.key, `/v1/activity?${query}`).expect(200)).body.activity;

  it('names the owner of the key as the person, whatever X-Actor claims', async () => {
    const { key: grace } = await proxy.app
      .get(ClientsService, { strict: false })
      .issueKey('admin', { person: 'grace' });
    const by = (key: string) => ({ 'X-API-Key': key, 'X-Actor': 'chief-financial-officer' });
    const web = supertest(proxy.url);
    await web
      .post('/v1/clients')
      .set(by(grace))
      .send({ name: 'owned', scopes: ['read'] })
      .expect(201);
    const stopping = { client: 'owned', reason: 'Leaked' };
    const { body: stop } = await web.post('/v1/stops').set(by(admin.key)).send(stopping).expect(201);
    expect(stop.stopped_by).toMatchObject({ client: 'admin', actor: null });
    const { body: lifted } = await web.delete(`/v1/stops/${stop.id}`).set(by(grace)).expect(200);
    expect(lifted.lifted_by).toMatchObject({ client: 'admin', actor: 'grace' });
    const people = (await acts('client=owned')).map(({ action, by: { actor } }) => [action, actor]);
    expect(people).toEqual([
      ['stop_lifted', 'grace'],
      ['stop_set', null],
      ['key_issued', 'grace'],
      ['client_created', 'grace'],
    ]);
    expect(await acts('actor=chief-financial-officer')).toEqual([]);
  });

  it('attributes a run and a statement to the owner of the key only', async () => {
    const { name, key } = await proxy.client('reconciler', 'reconcile');
    const clients = proxy.app.get(ClientsService, { strict: false });
    const { key: grace } = await clients.issueKey(name, { person: 'grace' });
    const web = supertest(proxy.url);
    const period = { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' };
    for (const [from, actor] of [
      [key, null],
      [grace, 'grace'],
    ] as const) {
      const by = { 'X-API-Key': from, 'X-Actor': 'chief-financial-officer' };
      const { body: run } = await web.post('/v1/reconciliation/runs').set(by).send(period);
      const { body: statement } = await web
        .post('/v1/reconciliation/statements?mapping=fields')
        .set({ ...by, 'Content-Type': 'text/csv' })
        .send(`upstream_ref,amount_usd\nof-${actor},1`)
        .expect(201);
      period.from = '2026-10-31T00:00:00Z'; // Another period makes another run.
      expect([run.started_by?.actor, statement.actor]).toEqual([actor, actor]);
    }
    const recorded = await proxy.database.query(
      'SELECT actor FROM reconciliation_run UNION SELECT actor FROM source_read ORDER BY actor',
    );
    expect(recorded).toEqual([{ actor: 'grace' }, { actor: null }]);
  });

  it('names the operating system user of erasures and prunings', async () => {
    const { url, ownerUrl } = proxy.database;
    const payer = await proxy.client('payer', 'pay');
    await proxy
      .post(payer.key, '/payouts/credit', { credits: [{ email: 'a@b.example', valueInUSD: 5 }] })
      .expect(200);
    await eventually(async () => (await proxy.database.query('SELECT FROM checkpoint')).length > 0);
    Object.assign(process.env, {
      DATABASE_URL: url,
      DATABASE_OWNER_URL: ownerUrl,
      LOG_SIGNING_KEY: signingKey,
    });
    const erase = cliOf(auditCommands);
    await erase('erase', '--recipient', 'a@b.example', '--reason', 'Case 18 of +2348012345678', '--yes');
    delete process.env.LOG_SIGNING_KEY;
    await proxy.database
      .query(`INSERT INTO pruning (id, what, month, reason, actor, kept, rows, leaves, checkpoint, pruned_at,
        signature)
      VALUES (gen_random_uuid(), 'calls', '2025-01', 'age', 'dpo', '{}', 3, 6, '', now(), '')`);
    const deleted = { via: 'cli', client_address: null, before: null, target: { client: null } };
    expect((await acts()).slice(0, 2)).toMatchObject([
      { ...deleted, action: 'month_pruned', by: { client: null, actor: 'dpo' }, reason: 'age' },
      {
        ...deleted,
        action: 'person_erased',
        by: { actor: userInfo().username },
        reason: 'Case 18 of +234••••5678',
      },
    ]);
    expect((await acts('via=cli')).map(({ after }) => after)).toEqual([
      { pruned: 'calls', month: '2025-01', calls: 3, kept: 0 },
      { erased: 'email', places: 3 },
    ]);
  });
});
