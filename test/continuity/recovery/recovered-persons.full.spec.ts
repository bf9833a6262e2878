import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restoreFromCopies } from '../../../src/journal/recovery/recovery';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { createTokenClient } from '../../support/access/token-client';
import { TokenIssuer } from '../../support/access/token-issuer';
import { bearer, payAirtime } from '../../support/access/token-scene';
import { removeExpired } from '../../support/databases/expiry';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { loseCalls } from '../../support/payments/lost-calls';
import { AIRTIME } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

const TIMEOUTS = { upstreamTimeoutMs: 30_000, upstreamTimeouts: new Map<string, number>() };

/** The database is from before the first call of a person. Copies have the person's hash and no name. */
describe('a person whose calls are restored from copies', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-recovered-'));
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let auditor: string;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dataDir });
    auditor = (await proxy.client('auditor', 'audit')).key;
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** A client whose persons may pay twice a day. */
  const clientOf = async (name: string) => {
    const { id, key } = await proxy.client(name, 'pay', 'read');
    await proxy.database.query('UPDATE client SET person_daily_cap_usd = 6 WHERE id = $1', [id]);
    return {
      id,
      pay: (actor = 'ada') => proxy.post(key, '/payouts/airtime', AIRTIME).set('X-Actor', actor),
      key,
    };
  };
  const idOf = ({ headers }: { headers: Record<string, string> }) => headers['x-call-id'] ?? '';
  const read = async (id: string) => (await proxy.get(auditor, `/v1/audit/calls/${id}`).expect(200)).body;
  const restore = (from = dataDir) => restoreFromCopies(proxy.app.get(PrismaService), [from], TIMEOUTS);
  const restart = () => proxy.database.query('UPDATE client SET name = name'); // nobody is remembered
  /** The copies, as the calls of an end user are copied. */
  const copiesOfEndUser = () => {
    const own = mkdtempSync(join(tmpdir(), 'payout-proxy-end-user-'));
    cpSync(join(dataDir, 'copies'), join(own, 'copies'), { recursive: true });
    for (const name of readdirSync(join(own, 'copies'))) {
      const text = readFileSync(join(own, 'copies', name), 'utf8');
      writeFileSync(
        join(own, 'copies', name),
        text.replaceAll('"actor_source":"claimed"', '"actor_source":"token"'),
      );
    }
    return own;
  };
  const claims = (clientId: string) =>
    proxy.database.query('SELECT key, intent_id AS id FROM idempotency_claim WHERE client_id = $1', [
      clientId,
    ]);

  it('keeps the caps of the day, and regains a name with the next call', async () => {
    const { pay } = await clientOf('app');
    const paid = idOf(await pay().expect(200));
    const { person_id: person } = await read(paid);
    await loseCalls(proxy.database, dataDir, paid);
    await restart();
    expect(await restore()).toMatchObject({ calls: 1, outcomes: 1 });
    const row = 'SELECT name, salt, sha256 IS NOT NULL AS known FROM person WHERE id = $1';
    expect(await proxy.database.query(row, [person])).toEqual([{ name: null, salt: null, known: true }]);
    expect(await read(paid)).toMatchObject({ actor: null, actor_source: 'claimed', person_id: person });
    expect(await read(idOf(await pay().expect(200)))).toMatchObject({ actor: 'ada', person_id: person });
    expect((await pay().expect(403)).body.code).toBe('cap_exceeded');
    expect(await read(paid)).toMatchObject({ actor: 'ada' });
    await pay('grace').expect(200);
  });

  it('has one row, one cap and one idempotency scope, even after a call before the recovery', async () => {
    const { id, key, pay } = await clientOf('went-on');
    const paid = idOf(await pay().set('Idempotency-Key', 'order-1').expect(200));
    const { person_id: before } = await read(paid);
    await loseCalls(proxy.database, dataDir, paid);
    await restart();
    await proxy.get(key, '/v1/calls').set('X-Actor', 'ada').expect(200); // it makes a new row
    const own = copiesOfEndUser();
    await restore(own);
    await restore(own); // changes nothing more
    rmSync(own, { recursive: true });
    const call = await read(paid);
    expect([call.recovered, call.person_id === before]).toEqual([true, false]);
    const persons = await proxy.database.query('SELECT id::text FROM person WHERE client_id = $1', [id]);
    expect(persons).toEqual([{ id: call.person_id }]);
    expect(await claims(id)).toEqual([{ key: `${call.person_id} order-1`, id: paid }]);
    await pay().expect(200);
    expect((await pay().expect(403)).body.code).toBe('cap_exceeded');
  });

  it('regains the token issuer, which identifies the person in sessions and approvals', async () => {
    const issuer = await TokenIssuer.start();
    const { id } = await createTokenClient(proxy.database, 'wallet', issuer);
    const persons = () =>
      proxy.database.query('SELECT id, issuer, name FROM person WHERE client_id = $1', [id]);
    const headers = bearer(await issuer.token());
    const paid = idOf(await payAirtime(proxy, headers).expect(200));
    const before = await persons();
    expect(before).toMatchObject([{ issuer: issuer.issuer, name: 'alice' }]);
    await loseCalls(proxy.database, dataDir, paid);
    await restart();
    await restore();
    expect(await persons()).toMatchObject([{ issuer: null, name: null }]);
    await payAirtime(proxy, headers).expect(200);
    expect(await persons()).toEqual(before);
    await issuer.stop();
  });

  it('loses its hash after 31 days without a call, because nameless persons cannot be erased', async () => {
    const { id, pay } = await clientOf('erased-since');
    await loseCalls(proxy.database, dataDir, idOf(await pay().expect(200)));
    await restart();
    await restore();
    const pass = (age: string) =>
      proxy.database.query(
        'UPDATE person SET forget_after = forget_after - $2::interval WHERE client_id = $1',
        [id, age],
      );
    const hash = async () => {
      await removeExpired(proxy);
      return proxy.database.query('SELECT sha256 FROM person WHERE client_id = $1', [id]);
    };
    const restored = await hash();
    await pass('30 days 23 hours');
    expect(await hash()).toEqual(restored);
    await pass('1 hour');
    expect(await hash()).not.toEqual(restored);
  });

  it('does not fail the recovery if the database lacks the client', async () => {
    const { id, pay } = await clientOf('lost');
    const paid = idOf(await pay().expect(200));
    await loseCalls(proxy.database, dataDir, paid);
    await proxy.database.query('DELETE FROM api_key WHERE client_id = $1', [id]);
    await proxy.database.query('DELETE FROM client WHERE id = $1', [id]);
    await restore();
    expect(await read(paid)).toMatchObject({ recovered: true, actor: null });
  });
});
