import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { admit } from '../../../src/journal/admission/admissions';
import { CallJournal } from '../../../src/journal/call-journal';
import { copiesFolder, CopiedLine } from '../../../src/journal/copies/local-copies';
import { RunningConfig, SETTINGS } from '../../../src/platform/config/config';
import { PrismaService } from '../../../src/platform/database/pools/prisma.service';
import { TestDatabase } from '../../support/databases/test-database';
import supertest from '../../support/http/supertest';
import { reset, succeed } from '../../support/network/fake-upstream';
import { rulesOf, WINDOWS, withId } from '../../support/payments/guard-windows';
import { AIRTIME, eventually, PaymentScene, startPaying } from '../../support/payments/paying';
import { copyIntent } from '../../support/records/intents';

/** Promise 7: a call that was admitted too long ago is not sent. It may be settled and paid again. */
describe('a stale admission', () => {
  let paying: PaymentScene;
  beforeAll(async () => (paying = await startPaying()));
  afterAll(() => paying.close());
  beforeEach(() => {
    paying.upstream.received.length = 0;
    paying.upstream.behaviour = succeed;
  });
  afterEach(() => jest.restoreAllMocks());

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const callOf = (response: { headers: Record<string, string> }) => response.headers['x-call-id'];

  it('is not settled while its process may still send, with longer timeouts or another clock', async () => {
    const { key } = await paying.proxy.client('longer', 'pay');
    const { key: approver } = await paying.proxy.client('longer-approver', 'approve');
    paying.upstream.behaviour = reset;
    const { headers } = await paying.proxy.post(key, '/payouts/airtime', AIRTIME).expect(502);
    const [process, minuteAgo] = [999_998, new Date(Date.now() - 60_000)];
    const open = await copyIntent(paying.proxy.database, callOf({ headers }) ?? '', {
      process,
      recorded_at: minuteAgo,
    });
    await query('INSERT INTO process (number, in_flight_ms) VALUES ($1, 600000)', [process]);
    const settle = () =>
      supertest(paying.proxy.url)
        .post(`/v1/calls/${open}/resolution`)
        .set('X-API-Key', approver)
        .send({ outcome: 'not_executed', reason: 'the provider does not list it' });
    expect((await settle().expect(409)).body.code).toBe('not_in_doubt');
    await query('UPDATE process SET in_flight_ms = 2500 WHERE number = $1', [process]);
    // The clock of a new server may be ahead of the one that recorded the call.
    const moved =
      'UPDATE epoch SET moved_at = now() - $1::interval, server = coalesce($2, database_server())';
    await query(moved, ['0 seconds', null]);
    expect((await settle().expect(409)).body.code).toBe('not_in_doubt');
    await query(moved, ['1 hour', '7000000000000000000/1']);
    expect((await settle().expect(409)).body.code).toBe('not_in_doubt'); // The move is not confirmed.
    await query(moved, ['1 hour', null]);
    await settle().expect(200);
  });

  it.each([
    [
      'settled since',
      `INSERT INTO settlement (id, intent_id, number, counted_usd, recorded_at, record)
        VALUES (uuidv7(), $1, 1, 0, now(), '{}')`,
      /was settled since/,
    ],
    [
      'answered',
      `INSERT INTO outcome (intent_id, kind, sent_at, answered_at, recorded_at, record)
        VALUES ($1, 'unknown', now(), now(), now(), '{}')`,
      /was settled since/,
    ],
    [
      'refused',
      `INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code,
        detail, faults,
         fault_count, received_at)
       SELECT id, client_id, client_id, operation, 'x', '::1', 503, 'x', 'x', '[]', 0, now() FROM intent
         WHERE id = $1`,
      /was settled since/,
    ],
    ['too old', undefined, /too long ago/],
    [
      'without its key',
      `UPDATE idempotency_claim SET intent_id = uuidv7() WHERE intent_id = $1`,
      /its key belongs to another call/,
    ],
  ])('sends nothing if its commit falsely failed and the call is %s', async (_how, sql, reason) => {
    const { key } = await paying.proxy.client(`late-${uuidv7().slice(-12)}`, 'pay');
    const journal = paying.proxy.app.get(CallJournal, { strict: false });
    const admitting = jest.spyOn(journal, 'admit');
    await paying.proxy.post(key, '/payouts/airtime', AIRTIME).set('Idempotency-Key', 'once').expect(200);
    const [admission] = admitting.mock.calls.at(-1) ?? [];
    if (!admission) throw new Error('the journal was not asked');
    const recordedAt = new Date(Date.now() - (sql ? 0 : WINDOWS.sendableForMs + 1));
    const { id } = admission.request;
    const open = await copyIntent(paying.proxy.database, id, { process: null, recorded_at: recordedAt });
    // Otherwise the key alone would prevent the send.
    await query('UPDATE idempotency_claim SET intent_id = $2 WHERE intent_id = $1', [id, open]);
    if (sql) await query(sql, [open]);
    const again = admit(
      paying.proxy.app.get(PrismaService),
      1,
      [withId(admission, open)],
      rulesOf(paying.proxy.app),
      true,
    );
    await expect(again).rejects.toThrow(reason);
  });

  it('is sent, and copied for a recovery, if its commit falsely failed and nothing has changed', async () => {
    const { key } = await paying.proxy.client('copied', 'pay');
    const prisma = paying.proxy.app.get(PrismaService);
    const prepared = prisma.prepared.bind(prisma);
    jest.spyOn(prisma, 'prepared').mockImplementation(async (name: string, ...rest) => {
      const rows = await prepared(name, ...rest);
      if (!name.startsWith('insert_intents_if_clear')) return rows;
      jest.restoreAllMocks();
      throw new Error('Connection terminated unexpectedly');
    });
    const got = await paying.proxy
      .post(key, '/payouts/airtime', AIRTIME)
      .set('Idempotency-Key', 'order-1')
      .expect(200);
    const { dataDir } = paying.proxy.app.get<RunningConfig>(SETTINGS);
    const copies = () =>
      readdirSync(copiesFolder(dataDir))
        .flatMap((name) =>
          readFileSync(join(copiesFolder(dataDir), name), 'utf8')
            .trim()
            .split('\n'),
        )
        .map((line) => JSON.parse(line) as CopiedLine);
    const isCopied = (line: CopiedLine) =>
      line.kind === 'intent' && line.record.id === callOf(got) && line.claim !== null;
    await eventually(() => existsSync(copiesFolder(dataDir)) && copies().some(isCopied));
  });

  it('sends nothing if its commit falsely failed and a stop applies, and releases its amount', async () => {
    const { id: clientId, key } = await paying.proxy.client('stopped-again', 'pay');
    const { key: admin } = await paying.proxy.client('stopper', 'admin');
    const prisma = paying.proxy.app.get(PrismaService);
    const prepared = prisma.prepared.bind(prisma);
    const stop = { client: 'stopped-again', reason: 'the account is under review' };
    jest.spyOn(prisma, 'prepared').mockImplementation(async (name: string, ...rest) => {
      const rows = await prepared(name, ...rest);
      if (!name.startsWith('insert_intents_if_clear')) return rows;
      jest.restoreAllMocks();
      await supertest(paying.proxy.url).post('/v1/stops').set('X-API-Key', admin).send(stop).expect(201);
      throw new Error('Connection terminated unexpectedly');
    });
    const { body } = await paying.proxy.post(key, '/payouts/airtime', AIRTIME).expect(503);
    expect(body.code).toBe('stopped');
    expect(paying.upstream.received).toHaveLength(0);
    expect(await query('SELECT count(*)::int AS calls FROM intent WHERE client_id = $1', [clientId])).toEqual(
      [{ calls: 1 }],
    );
    expect(
      await query('SELECT sum(usd)::float AS usd FROM spending WHERE client_id = $1', [clientId]),
    ).toEqual([{ usd: 0 }]);
  });
});
