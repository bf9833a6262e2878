import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { restoreFromCopies } from '../../../src/journal/recovery/recovery';
import { OutcomeSpool } from '../../../src/journal/recovery/spooled-outcomes';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import supertest from '../../support/http/supertest';
import { answer, fail, FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { copiedIn, loseCalls } from '../../support/payments/lost-calls';
import { AIRTIME, eventually } from '../../support/payments/paying';
import { settleByHand } from '../../support/payments/settling';
import { Product } from '../../support/processes/process';
import { startProxy, TestProxy } from '../../support/processes/proxy';
import { copyIntent } from '../../support/records/intents';
import { paidOutcome } from '../../support/records/outcomes';
import { tamper } from '../../support/records/sealing';

const TIMEOUTS = { upstreamTimeoutMs: 30_000, upstreamTimeouts: new Map<string, number>() };

const FORBIDDEN = answer(401, { status: 'error', error: 'insufficient funds' });

/** Calls that a database had lost, restored from copies while some of what belongs to them is there. */
describe('a call restored after its outcome', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-recovered-'));
  let upstream: FakeUpstream;
  let proxy: TestProxy;

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    upstream.behaviour = fail;
    proxy = await startProxy({ upstreamBaseUrl: upstream.url, dataDir });
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('counts the amount that the outcome had released', async () => {
    const { key } = await proxy.client('app', 'pay');
    await proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-1').expect(200);
    await eventually(() => copiedIn(dataDir).some((line) => line.includes('"kind":"outcome"')));
    // A process that was sending it wrote its outcome to the older database.
    for (const table of ['intent', 'intent_body', 'idempotency_claim', 'spending'])
      await tamper(proxy.database, `DELETE FROM ${table}`);
    const recovered = await restoreFromCopies(proxy.app.get(PrismaService), [dataDir], TIMEOUTS);
    expect(recovered).toEqual({ calls: 1, outcomes: 0, approvals: 0, unreadable: 0 });
    expect(await proxy.database.query('SELECT usd::float8 AS usd FROM spending')).toEqual([{ usd: 0 }]);
  });

  describe('abandoned and settled before the recovery', () => {
    let approver = '';
    const resolve = async (id: string, supersedes?: string) => {
      const sent = supertest(proxy.url).post(`/v1/calls/${id}/resolution`).set('X-API-Key', approver);
      const { body } = await sent
        .send({ outcome: 'not_executed', reason: 'not there', supersedes })
        .expect(200);
      return body.settlements;
    };
    const read = async (id: string) => (await proxy.get(approver, `/v1/audit/calls/${id}`).expect(200)).body;

    beforeAll(async () => {
      upstream.behaviour = succeed;
      approver = (await proxy.client('settler', 'approve', 'audit')).key;
    });

    it('is settled by the copy of its outcome, and its key does not pay twice', async () => {
      const { key } = await proxy.client('given-up', 'pay');
      const pay = () => proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'order-1');
      const id = (await pay().expect(200)).headers['x-call-id'] ?? '';
      const isOutcome = (line: string) => line.includes('"kind":"outcome"') && line.includes(id);
      await eventually(() => copiedIn(dataDir).some(isOutcome));
      for (const table of ['outcome', 'outcome_body'])
        await tamper(proxy.database, `DELETE FROM ${table} WHERE intent_id = '${id}'`);
      const gone = `process = 999999, recorded_at = '2026-01-01T00:00:00Z'`;
      await tamper(proxy.database, `UPDATE intent SET ${gone} WHERE id = '${id}'`);
      await resolve(id);
      const paid = upstream.received.length;
      await restoreFromCopies(proxy.app.get(PrismaService), [dataDir], TIMEOUTS);
      expect(await read(id)).toMatchObject({ outcome: 'confirmed', items: [{ state: 'paid' }] });
      expect((await pay()).headers['x-call-id']).toBe(id);
      expect(upstream.received).toHaveLength(paid);
    });

    it('keeps later findings of a person, however often it is restored', async () => {
      const { key } = await proxy.client('corrected', 'pay');
      const paid =
        (await proxy.post(key, '/payouts/airtime', AIRTIME).expect(200)).headers['x-call-id'] ?? '';
      const id = await copyIntent(proxy.database, paid, {
        process: 999_999,
        recorded_at: '2026-01-01T00:00:00Z',
      });
      await resolve(id);
      const gone = mkdtempSync(join(tmpdir(), 'payout-proxy-gone-'));
      await new OutcomeSpool(join(gone, 'outcomes')).keep(paidOutcome(id));
      const restore = () => restoreFromCopies(proxy.app.get(PrismaService), [gone], TIMEOUTS);
      await restore();
      const { settlements } = await read(id);
      expect(settlements.map(({ source }) => source)).toEqual(['answer', 'person']);
      await resolve(id, settlements[0]?.id);
      await restore();
      expect(await read(id)).toMatchObject({ outcome: 'not_executed', settlements: { length: 3 } });
      rmSync(gone, { recursive: true, force: true });
    });
  });

  describe('whose key was reused on a database without it', () => {
    const restore = () => restoreFromCopies(proxy.app.get(PrismaService), [dataDir], TIMEOUTS);
    let key = '';

    async function restoreLines(lines: string[]) {
      const gone = mkdtempSync(join(tmpdir(), 'payout-proxy-gone-'));
      mkdirSync(join(gone, 'copies'));
      writeFileSync(join(gone, 'copies', '2026-11-24.jsonl'), `${lines.join('\n')}\n`);
      await restoreFromCopies(proxy.app.get(PrismaService), [gone], TIMEOUTS);
      rmSync(gone, { recursive: true, force: true });
    }

    async function lose({ headers }: { headers: Record<string, string> }) {
      const id = headers['x-call-id'] ?? '';
      await loseCalls(proxy.database, dataDir, id);
      return id;
    }

    const pay = (order: string) => proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', order);
    const payAndLose = async (order: string) => lose(await pay(order).expect(200));
    /** Creates a sub-account. No listing shows it, so a rejection is believed. */
    const create = (name: string) =>
      proxy.post(key, '/sub-account/create', { name, email: 'a@b.example' }).set('Idempotency-Key', name);

    beforeAll(async () => {
      upstream.behaviour = succeed;
      key = (await proxy.client('shop', 'pay', 'write')).key;
    });

    it('prevents a second payment by a held call', async () => {
      const lost = await payAndLose('order-2');
      await proxy.database.query("UPDATE client SET approval_over_usd = 1 WHERE name = 'shop'");
      const held = (await pay('order-2').expect(202)).headers['x-call-id'];
      await proxy.database.query("UPDATE client SET approval_over_usd = NULL WHERE name = 'shop'");
      await restore();
      const approver = await proxy.client('approver', 'approve');
      const paid = upstream.received.length;
      await supertest(proxy.url)
        .post(`/v1/approvals/${held}/approve`)
        .set('X-API-Key', approver.key)
        .send({ reason: 'agreed' })
        .expect(409);
      const { headers } = await pay('order-2').expect(200);
      expect(headers).toMatchObject({ 'x-call-id': lost, 'idempotent-replayed': 'true' });
      expect(upstream.received).toHaveLength(paid);
    });

    it('keeps its key after a rejection, unless the later call has a response too', async () => {
      upstream.behaviour = answer(400, { status: 'error', error: 'name is taken' });
      const lost = await lose(await create('order-5').expect(400));
      await lose(await create('order-6').expect(400));
      const younger = await create('order-6').expect(400);
      upstream.behaviour = FORBIDDEN; // leaves the key free
      await create('order-5').expect(502);
      upstream.behaviour = succeed;
      await restore();
      const replay = await create('order-5').expect(400);
      expect(replay.body).toMatchObject({ code: 'answer_erased', call_id: lost });
      const { headers } = await create('order-6').expect(400);
      expect(headers).toMatchObject({ 'x-call-id': younger.headers['x-call-id'] });
    });

    it('raises one alarm if both calls were paid', async () => {
      const lost = await payAndLose('order-3');
      await pay('order-3').expect(200);
      await restore();
      await restore();
      const alarms = "SELECT FROM activity WHERE action = 'key_paid_twice' AND call_id = $1";
      expect(await proxy.database.query(alarms, [lost])).toHaveLength(1);
    });

    it('leaves the key with the paid call, in any order of the copies', async () => {
      const older = await payAndLose('order-7');
      const paid = await payAndLose('order-7');
      upstream.behaviour = FORBIDDEN;
      await settleByHand(proxy, await pay('order-7').expect(502)); // leaves the key free
      upstream.behaviour = succeed;
      const linesOf = (id: string) => copiedIn(dataDir).filter((line) => line.includes(id));
      const inDoubt = linesOf(older).filter((line) => line.includes('"kind":"intent"'));
      await restoreLines([...Array<string[]>(600).fill(inDoubt).flat(), ...linesOf(paid)]); // in two batches
      expect((await pay('order-7').expect(200)).headers).toMatchObject({ 'x-call-id': paid });
    });

    it('takes the outcomes that a lost instance could not write', async () => {
      const gone = mkdtempSync(join(tmpdir(), 'payout-proxy-gone-'));
      const folder = join(gone, 'outcomes');
      const lost = await payAndLose('order-4');
      const again = (await pay('order-4').expect(200)).headers['x-call-id'] ?? '';
      const [open, erased] = [
        await copyIntent(proxy.database, again, {}),
        await copyIntent(proxy.database, again, {}),
      ];
      await tamper(
        proxy.database,
        `UPDATE intent_body SET body = NULL, salt = NULL WHERE intent_id = '${erased}'`,
      );
      const intent = copiedIn(dataDir).find(
        (line) => line.includes('"kind":"intent"') && line.includes(lost),
      );
      mkdirSync(join(gone, 'copies'));
      writeFileSync(join(gone, 'copies', '2026-11-24.jsonl'), `${intent}\n`);
      const [unknown, damaged] = [uuidv7(), uuidv7()];
      for (const id of [lost, open, erased, unknown]) await new OutcomeSpool(folder).keep(paidOutcome(id));
      writeFileSync(join(folder, `${damaged}.json`), 'damaged');
      writeFileSync(join(folder, `${open}.partial`), 'unfinished');
      utimesSync(join(folder, `${open}.partial`), 0, 0);
      const names = readdirSync(folder);

      const prisma = proxy.app.get(PrismaService);
      const missing = join(gone, 'copies'); // has no outcomes
      const recovered = await restoreFromCopies(prisma, [missing, gone], TIMEOUTS);
      expect(recovered).toEqual({ calls: 1, outcomes: 3, approvals: 0, unreadable: 1 });
      const written = `SELECT kind, intent_id::text AS id, body FROM outcome
        LEFT JOIN outcome_body USING (intent_id) WHERE intent_id <> $1 ORDER BY intent_id`;
      expect(await proxy.database.query(written, [again])).toEqual([
        { kind: 'succeeded', id: lost, body: null },
        { kind: 'succeeded', id: open, body: Buffer.from('paid') },
        { kind: 'succeeded', id: erased, body: null },
      ]);
      const alarms = `SELECT FROM activity WHERE action = 'key_paid_twice' AND call_id = $1`;
      expect(await proxy.database.query(alarms, [lost])).toHaveLength(1);
      expect(readdirSync(folder)).toEqual(names);
      const repeated = await restoreFromCopies(prisma, [gone], TIMEOUTS);
      expect(repeated).toEqual({ calls: 0, outcomes: 0, approvals: 0, unreadable: 1 });
      rmSync(gone, { recursive: true, force: true });
    });

    it('is named on stderr by the command, which prints only JSON on stdout', async () => {
      const lost = await payAndLose('order-5');
      await pay('order-5').expect(200);
      const { url: DATABASE_URL, ownerUrl: DATABASE_OWNER_URL } = proxy.database;
      const env = { DATABASE_URL, DATABASE_OWNER_URL, DATA_DIR: dataDir };
      const args = ['database', 'recover', '--force', '--reason', 'a late DATA_DIR', '--yes', '--json'];
      const { code, stdout, stderr } = await new Product('cli/main.js', args, env, dataDir).exit;
      expect([code, stderr]).toEqual([
        0,
        expect.stringContaining(`one idempotency key, two paid calls {"call_id":"${lost}"`),
      ]);
      expect(JSON.parse(stdout)).toMatchObject({ unreadable: 0 });
    });
  });
});
