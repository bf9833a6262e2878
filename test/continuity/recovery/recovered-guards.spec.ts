import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CopiedLine } from '../../../src/journal/copies/local-copies';
import { restoreFromCopies } from '../../../src/journal/recovery/recovery';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import supertest from '../../support/http/supertest';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { copiedIn, copyAlone, loseCalls } from '../../support/payments/lost-calls';
import { AIRTIME, eventually, PaymentScene, startPaying } from '../../support/payments/paying';
import { TestProxy } from '../../support/processes/proxy';
import { tamper } from '../../support/records/sealing';

/** What keeps a call from being paid again is restored with it. */
describe('a call restored from a copy', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-guards-'));
  let paying: PaymentScene;
  let proxy: TestProxy;
  let upstream: FakeUpstream;

  beforeAll(async () => {
    paying = await startPaying({ dataDir, duplicateGuard: true });
    ({ proxy, upstream } = paying);
    upstream.behaviour = succeed;
  });
  afterAll(async () => {
    await paying.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  beforeEach(() => (upstream.received.length = 0));

  async function loseAndRestore(id: string, last?: CopiedLine['kind']): Promise<object> {
    await loseCalls(proxy.database, dataDir, id, last);
    return restore(dataDir);
  }
  const restore = (...dataDirs: string[]) =>
    restoreFromCopies(proxy.app.get(PrismaService), dataDirs, {
      upstreamTimeoutMs: 30_000,
      upstreamTimeouts: new Map(),
    });
  const spentBy = (client: { id: string }) =>
    proxy.database.query('SELECT usd::float8 AS usd FROM spending WHERE client_id = $1', [client.id]);

  it('is replayed for its key', async () => {
    const { key } = await proxy.client('keyed', 'pay');
    const pay = () =>
      proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-1').expect(200);
    const id = (await pay()).headers['x-call-id'] ?? '';
    await loseAndRestore(id);
    expect((await pay()).headers).toMatchObject({ 'x-call-id': id, 'idempotent-replayed': 'true' });
    expect(upstream.received).toHaveLength(1);
  });

  it('counts as the first call with its content, without a key', async () => {
    const { key } = await proxy.client('without-keys', 'pay');
    const id = (await proxy.post(key, '/payouts/airtime', AIRTIME).expect(200)).headers['x-call-id'] ?? '';
    await loseAndRestore(id);
    const { body } = await proxy.post(key, '/payouts/airtime', AIRTIME).expect(409);
    expect(body).toMatchObject({ code: 'suspected_duplicate', first_call_id: id });
    expect(upstream.received).toHaveLength(1);
  });

  it('is not sent again by a retry of its repetition, in any order of the folders', async () => {
    const { key } = await proxy.client('repeating', 'pay');
    const first = (await proxy.post(key, '/payouts/airtime', AIRTIME).expect(200)).headers['x-call-id'] ?? '';
    const repeat = () => proxy.post(key, '/payouts/airtime', AIRTIME).set('Allow-Duplicate-Of', first);
    const again = (await repeat().expect(200)).headers['x-call-id'] ?? '';
    await loseCalls(proxy.database, dataDir, again);
    await restore(...[again, first].map((id) => copyAlone(dataDir, id, join(dataDir, `instance of ${id}`))));
    expect((await repeat().expect(409)).body).toMatchObject({
      code: 'suspected_duplicate',
      first_call_id: again,
    });
    expect(upstream.received).toHaveLength(2);
    const kept = 'SELECT intent_id::text AS id, lasting FROM recent_content ORDER BY number';
    expect(await proxy.database.query(kept)).toEqual([
      { id: first, lasting: false },
      { id: again, lasting: true },
    ]);
  });

  it('counts against the caps', async () => {
    const client = await proxy.client('capped', 'pay');
    const id =
      (await proxy.post(client.key, '/payouts/airtime', AIRTIME).expect(200)).headers['x-call-id'] ?? '';
    const spent = await spentBy(client);
    await loseAndRestore(id);
    expect(await spentBy(client)).toEqual(spent);
    expect(spent).toEqual([{ usd: expect.any(Number) }]);
  });

  it('counts against the daily limit of its recipient', async () => {
    const { key } = await proxy.client('limited', 'pay');
    await proxy.database.query("UPDATE client SET max_recipient_day_usd = 3 WHERE name = 'limited'");
    const id = (await proxy.post(key, '/payouts/airtime', AIRTIME).expect(200)).headers['x-call-id'] ?? '';
    await loseAndRestore(id);
    const [item] = AIRTIME.airtimes;
    const { body } = await proxy
      .post(key, '/payouts/airtime', { airtimes: [{ ...item, valueInUSD: 1 }] })
      .expect(403);
    expect(body.code).toBe('cap_exceeded');
    expect(upstream.received).toHaveLength(1);
  });

  describe('while it waits for an approval', () => {
    const read = async (id: string) =>
      (await proxy.get(paying.auditor, `/v1/audit/calls/${id}`).expect(200)).body;

    const decide = (key: string, id: string, decision: 'approve' | 'reject') =>
      supertest(proxy.url)
        .post(`/v1/approvals/${id}/${decision}`)
        .set('X-API-Key', key)
        .send({ reason: 'agreed' });

    async function hold(name: string) {
      const client = await proxy.client(name, 'pay');
      await proxy.database.query('UPDATE client SET approval_over_usd = 0 WHERE name = $1', [name]);
      const held =
        (await proxy.post(client.key, '/payouts/airtime', AIRTIME).expect(202)).headers['x-call-id'] ?? '';
      return { client, held };
    }

    it('can only be rejected if its content is missing', async () => {
      const { held } = await hold('waiting');
      const { key } = await proxy.client('decider', 'approve', 'audit');
      await loseAndRestore(held, 'intent');
      const { body } = await proxy.get(key, `/v1/approvals/${held}`).expect(200);
      expect(body).toMatchObject({ recovered: true, not_allowed: { code: 'content_lost' } });
      expect((await decide(key, held, 'approve').expect(409)).body.code).toBe('content_lost');
      await decide(key, held, 'reject').expect(200);
      expect(upstream.received).toEqual([]);
    });

    it('is not approved twice, and counts against the caps of the day of its approval', async () => {
      const { client, held } = await hold('held');
      const { key } = await proxy.client('approver', 'approve');
      await decide(key, held, 'approve').expect(200);
      const spent = await spentBy(client);
      expect(await loseAndRestore(held)).toMatchObject({ approvals: 1 });
      expect(await spentBy(client)).toEqual(spent);
      expect((await decide(key, held, 'approve').expect(409)).body.code).toBe('already_decided');
      expect(upstream.received).toHaveLength(1);
    });

    it('is in doubt if it was rejected after a lost approval, and counts on the caps', async () => {
      const { client, held } = await hold('rejected-late');
      const { key } = await proxy.client('rejecter', 'approve');
      await decide(key, held, 'approve').expect(200);
      const spent = await spentBy(client);
      const isOutcome = (line: string) => line.includes('"kind":"outcome"') && line.includes(held);
      await eventually(() => copiedIn(dataDir).some(isOutcome));
      for (const table of ['decision', 'outcome', 'outcome_body', 'spending'])
        await tamper(proxy.database, `DELETE FROM ${table}`);
      await decide(key, held, 'reject').expect(200);
      const alone = copyAlone(dataDir, held, join(dataDir, 'found late'));
      const copies = join(alone, 'copies', '2026-11-24.jsonl');
      const lines = readFileSync(copies, 'utf8').split('\n');
      // killed before it was answered
      writeFileSync(copies, lines.filter((line) => !isOutcome(line)).join('\n'));
      await restore(alone);
      expect(await read(held)).toMatchObject({ outcome: 'unknown', approval: { status: 'rejected' } });
      expect(await spentBy(client)).toEqual(spent);
      await restore(dataDir);
      await restore(dataDir);
      expect(await read(held)).toMatchObject({ outcome: 'confirmed', items: [{ state: 'paid' }] });
      expect(await spentBy(client)).toEqual(spent);
    });
  });
});
