import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { admit } from '../../../src/journal/admission/admissions';
import { CallJournal } from '../../../src/journal/call-journal';
import { copiesFolder } from '../../../src/journal/copies/local-copies';
import { clock } from '../../../src/platform/database/clock';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { OwnPostgres, startOwnPostgres } from '../../support/databases/own-postgres';
import { TestDatabase } from '../../support/databases/test-database';
import { FakeUpstream, succeed } from '../../support/network/fake-upstream';
import { withId, rulesOf } from '../../support/payments/guard-windows';
import { airtime, eventually, phones } from '../../support/payments/paying';
import { startProxy, TestProxy } from '../../support/processes/proxy';

/** More than one batch, and more than the pool has connections. */
const CALLS = 120;

/** Sends a request again while it is refused, as apps do: after a thaw, the first seconds admit fewer. */
async function untilAdmitted<Got extends { status: number }>(pay: () => PromiseLike<Got>): Promise<Got> {
  for (;;) {
    const got = await pay();
    if (got.status !== 503) return got;
    await sleep(100);
  }
}

/** A frozen server accepts connections and statements, and executes them after it wakes up. */
describe('a frozen database', () => {
  let postgres: OwnPostgres;
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-frozen-'));

  beforeAll(async () => {
    postgres = await startOwnPostgres();
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    proxy = await startProxy(
      { upstreamBaseUrl: upstream.url, dataDir, requestDeadlineMs: 2_000 },
      postgres.database,
    );
  });
  afterAll(async () => {
    await upstream.stop();
    await proxy.close();
    await postgres.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const query: TestDatabase['query'] = (sql, parameters) => postgres.database.query(sql, parameters);

  it('causes 503 before it resumes, sends no such call, and releases reservations and keys', async () => {
    const client = await proxy.client('app', 'pay');
    // Each call fits once: what stays reserved for a call that was answered 503 would refuse another one.
    await query('UPDATE client SET daily_cap_usd = $2 WHERE id = $1', [client.id, 2.5 * (CALLS + 1)]);
    const all = phones(CALLS + 1);
    const pay = (phone: string) =>
      proxy
        .post(client.key, '/payouts/airtime', airtime(phone))
        .set('Idempotency-Key', `key-${all.indexOf(phone)}`);
    const [first = '', ...others] = all;
    await pay(first).expect(200);

    const admitting = jest.spyOn(proxy.app.get(CallJournal, { strict: false }), 'admit');
    const prisma = proxy.app.get(PrismaService);
    const prepared = prisma.prepared.bind(prisma);
    let frozen = false;
    const freezing = jest.spyOn(prisma, 'prepared').mockImplementation((name, text, values) => {
      // The statement of the first admissions waits in the server's socket, and others wait behind it.
      if (!frozen && name.startsWith('insert_intents_if_clear')) postgres.freeze();
      frozen ||= name.startsWith('insert_intents_if_clear');
      return prepared(name, text, values);
    });
    const answers = await Promise.all(others.map((phone) => pay(phone))); // while the database is frozen
    postgres.thaw();
    freezing.mockRestore();
    for (const { status, body, headers } of answers) {
      expect([status, headers['retry-after']]).toEqual([503, expect.stringMatching(/^[123]$/)]);
      // the first attempts, and those behind them
      expect(['database_unavailable', 'overloaded']).toContain(body.code);
    }
    // Those that reached the admission are refused on record.
    const admitted = admitting.mock.calls.map(([{ request }]) => request.id);
    expect(admitted.length).toBeGreaterThan(1);
    const refused = () => query('SELECT FROM refusal WHERE id = ANY ($1)', [admitted]);
    const reserved = () => query('SELECT usd::float FROM spending');
    await eventually(async () => (await refused()).length === admitted.length);
    // a reservation is given back right after the refusal
    await eventually(async () => (await reserved())[0]?.usd === 2.5);
    expect(upstream.received).toHaveLength(1);

    admitting.mockRestore();
    const again = await Promise.all(others.map((phone) => untilAdmitted(() => pay(phone))));
    expect(again.map(({ status }) => status)).toEqual(others.map(() => 200));
    expect(upstream.received).toHaveLength(1 + CALLS);
    expect(await reserved()).toEqual([{ usd: 2.5 * (1 + CALLS) }]);
    const open = await query(
      `SELECT FROM intent i WHERE NOT EXISTS (SELECT FROM outcome WHERE intent_id = i.id)
         AND NOT EXISTS (SELECT FROM refusal r WHERE r.id = i.id)`,
    );
    expect(open).toEqual([]);
    // A database that loses both would get them back from a copy without their refusals.
    const copied = () => readFileSync(join(copiesFolder(dataDir), `${clock.today()}.jsonl`), 'utf8');
    const [last = ''] = again.slice(-1).map(({ headers }) => headers['x-call-id']);
    await eventually(() => Promise.resolve(copied().includes(last)));
    expect(admitted.filter((id) => copied().includes(id))).toEqual([]);
  });

  it.each([
    ['in one statement', false, 0],
    ['after a look', false, 30],
    ['again, alone', true, 0],
  ])('never admits a call that was refused during its admission, %s', async (_how, again, across) => {
    const journal = proxy.app.get(CallJournal, { strict: false });
    const admitting = jest.spyOn(journal, 'admit');
    const client = await proxy.client(`late-${again}-${across}`, 'pay');
    await proxy.post(client.key, '/payouts/airtime', airtime(phones(1)[0] ?? '')).expect(200);
    const [admission] = admitting.mock.calls[0] ?? [];
    if (!admission) throw new Error('the journal was not asked');
    const late = withId(admission, uuidv7());
    late.intent.items = [];
    const why = {
      status: 503,
      code: 'database_unavailable' as const,
      detail: 'Too slow.',
      firstCallId: null,
    };
    await journal.refusals.record({
      ...late.intent,
      ...why,
      idempotencyKey: null,
      faults: [],
      faultsTotal: 0,
    });
    const windows = {
      duplicates: false,
      duplicateSeconds: 0,
      inFlightSeconds: 30,
      acrossClientsSeconds: across,
      sendableForMs: 30_000,
      approvableForMs: 0,
      queuedForMs: 0,
    };
    await expect(
      admit(proxy.app.get(PrismaService), 1, [late], rulesOf(proxy.app, windows), again),
    ).rejects.toThrow();
    expect(await query('SELECT FROM intent WHERE id = $1', [late.intent.id])).toEqual([]);
  });
});
