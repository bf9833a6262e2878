import { v7 as uuidv7 } from 'uuid';
import { admit } from '../../../src/journal/admission/admissions';
import { CallJournal } from '../../../src/journal/call-journal';
import { PersonDocument, recipientsCommitment } from '../../../src/journal/records/recipients';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { TestDatabase } from '../../support/databases/test-database';
import { succeed } from '../../support/network/fake-upstream';
import { rulesOf, withId } from '../../support/payments/guard-windows';
import {
  AIRTIME,
  eventually,
  PaymentScene,
  phoneOf,
  phones,
  startPaying,
} from '../../support/payments/paying';
import { copyIntent } from '../../support/records/intents';

/** Promise 1: a request follows its durable intent, and an answer follows its durable outcome. */
describe('the journal', () => {
  let paying: PaymentScene;
  beforeAll(async () => (paying = await startPaying({ upstreamConnections: 200 })));
  afterAll(() => paying.close());
  beforeEach(() => {
    paying.upstream.received.length = 0;
    paying.upstream.behaviour = succeed;
  });
  afterEach(() => jest.restoreAllMocks());

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const callOf = (response: { headers: Record<string, string> }) => response.headers['x-call-id'];

  it('commits the intent before the request, and the outcome before the response', async () => {
    const seen: unknown[] = [];
    paying.upstream.behaviour = async (received, ...rest) => {
      seen.push(
        ...(await query(
          `SELECT i.operation, b.body, p.phone, o.intent_id AS outcome FROM item_recipient p
           JOIN intent i ON i.id = p.intent_id JOIN intent_item t USING (intent_id, position)
           JOIN intent_body b USING (intent_id) LEFT JOIN outcome o USING (intent_id) WHERE p.phone = $1`,
          [phoneOf(received)],
        )),
      );
      succeed(received, ...rest);
    };
    const [phone = ''] = phones(1);
    const got = await paying.pay(phone).expect(200);
    const body = Buffer.from(paying.upstream.received[0]?.body ?? '');
    expect(seen).toEqual([{ operation: 'POST /payouts/airtime', body, phone, outcome: null }]);
    expect(await query('SELECT kind FROM outcome WHERE intent_id = $1', [callOf(got)])).toEqual([
      { kind: 'succeeded' },
    ]);
  });

  // First, because database failures reduce the admitted concurrency for a while.
  it('records a hundred calls once each in a few commits after database congestion', async () => {
    const opening = jest.spyOn(paying.proxy.app.get(CallJournal, { strict: false }), 'admit');
    await query('BEGIN');
    await query('LOCK TABLE intent IN SHARE MODE'); // The first batch waits, and the others queue.
    const calls = phones(100).map((phone) => paying.pay(phone).then((got) => got));
    await eventually(() => Promise.resolve(opening.mock.calls.length === 100));
    expect(paying.upstream.received).toEqual([]);
    await query('COMMIT');
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200));
    const ids = answers.map(callOf);
    const [counted] = await query(
      `SELECT count(*)::int AS intents, count(DISTINCT i.xmin::text)::int AS intent_commits,
         count(o)::int AS outcomes, count(DISTINCT o.xmin::text)::int AS outcome_commits
       FROM intent i LEFT JOIN outcome o ON o.intent_id = i.id WHERE i.id = ANY($1::uuid[])`,
      [ids],
    );
    expect(counted).toMatchObject({ intents: 100, outcomes: 100 });
    expect(counted?.intent_commits).toBeLessThan(5);
    expect(counted?.outcome_commits).toBeLessThan(100);
    const items = await query('SELECT FROM intent_item WHERE intent_id = ANY($1::uuid[])', [ids]);
    expect(items).toHaveLength(100);
    expect(new Set(paying.upstream.received.map(phoneOf)).size).toBe(100);
  });

  it('writes a record once, with valid commitments, if the commit response is lost', async () => {
    const prisma = paying.proxy.app.get(PrismaService);
    const run = prisma.prepared.bind(prisma);
    const lost: string[] = [];
    const losing = jest.spyOn(prisma, 'prepared').mockImplementation(async (name, text, values) => {
      const rows = await run(name, text, values);
      if (!/^insert_(intents_if_clear|outcomes)$/.test(name) || lost.includes(name)) return rows;
      lost.push(name);
      throw new Error('Connection terminated unexpectedly');
    });
    const id = callOf(await paying.pay().expect(200));
    losing.mockRestore();
    expect(lost).toEqual(['insert_intents_if_clear', 'insert_outcomes']);
    const rows = await query<{ people: string; people_salt: Buffer; committed: string }>(
      `SELECT encode(sha256(b.salt || b.body), 'hex') = i.record::json ->> 'body_commitment' AS sent,
        b.people, b.people_salt, i.record::json ->> 'recipients_commitment' AS committed,
         encode(sha256(r.salt || r.body), 'hex') = o.record::json ->> 'body_commitment' AS received
       FROM intent i JOIN intent_body b ON b.intent_id = i.id JOIN outcome o ON o.intent_id = i.id
       JOIN outcome_body r ON r.intent_id = i.id WHERE i.id = $1`,
      [id],
    );
    expect(rows).toMatchObject([{ sent: true, received: true }]);
    const { people, people_salt: peopleSalt, committed } = rows[0]!;
    const stored = { people: JSON.parse(people) as PersonDocument[], peopleSalt };
    expect(recipientsCommitment(id ?? '', stored)?.toString('hex')).toBe(committed);
  });

  it('keeps the decision about a call after a false commit failure', async () => {
    const { key, name } = await paying.proxy.client('capped', 'pay');
    await query('UPDATE client SET daily_cap_usd = 2.5 WHERE name = $1', [name]);
    const journal = paying.proxy.app.get(CallJournal, { strict: false });
    const admitting = jest.spyOn(journal, 'admit');
    await paying.proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'once').expect(200);
    const [admission] = admitting.mock.calls[0] ?? [];
    if (!admission) throw new Error('no call of the journal');
    const prisma = paying.proxy.app.get(PrismaService);
    const open = await copyIntent(paying.proxy.database, admission.request.id, { process: null });
    await query('UPDATE idempotency_claim SET intent_id = $1 WHERE intent_id = $2', [
      open,
      admission.request.id,
    ]);
    const before = performance.now();
    const retried = await admit(prisma, 1, [withId(admission, open)], rulesOf(paying.proxy.app), true);
    const [first] = retried.results;
    if (first?.kind !== 'released') throw new Error(`it is ${first?.kind}`);
    // The first commit is the release, not the retry.
    expect(first.release.monotonicMs).toBeLessThan(before);
    const another = withId(admission, uuidv7());
    another.request.idempotencyKey = 'twice';
    expect((await admit(prisma, 1, [another], rulesOf(paying.proxy.app), true)).results).toMatchObject([
      { kind: 'over_cap', period: 'daily' },
    ]);
    expect(
      await query('SELECT usd::float FROM spending WHERE client_id = $1', [admission.request.clientId]),
    ).toEqual([{ usd: 2.5 }]);
  });

  it('pays exactly what it records and reports when all connections drop', async () => {
    const drop = () =>
      query(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    let arrived = 0;
    paying.upstream.behaviour = async (...args) => {
      arrived += 1;
      if (arrived % 40 === 0) await drop();
      succeed(...args);
    };
    const calls = await Promise.all(
      phones(200).map(async (phone) => ({ phone, got: await paying.pay(phone) })),
    );
    const paid = paying.upstream.received.map(phoneOf);
    expect(new Set(paid).size).toBe(paid.length);
    const rows = await query('SELECT i.id, o.kind FROM intent i LEFT JOIN outcome o ON o.intent_id = i.id');
    const kinds = new Map(rows.map(({ id, kind }) => [id, kind]));
    for (const { phone, got } of calls) {
      const told = got.body.code ?? got.body.status;
      expect(['success', 'database_unavailable', 'overloaded', 'outcome_unknown']).toContain(told);
      if (told === 'success') expect(kinds.get(callOf(got))).toBe('succeeded');
      expect([phone, paid.includes(phone)]).toEqual([
        phone,
        told === 'success' || told === 'outcome_unknown',
      ]);
      if (paid.includes(phone)) expect(kinds.has(callOf(got))).toBe(true);
    }
    expect(calls.filter(({ got }) => got.status === 200).length).toBeGreaterThan(0);
    await paying.proxy.get('', '/readyz').expect(200);
  });
});
