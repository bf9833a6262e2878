import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { recipientsCommitment } from '../../../src/journal/records/recipients';
import { clock } from '../../../src/platform/database/clock';
import { TestDatabase } from '../../support/databases/test-database';
import { first } from '../../support/examples/first';
import { answer } from '../../support/network/fake-upstream';
import { AIRTIME, bytes, eventually, PaymentScene, startPaying } from '../../support/payments/paying';
import { insertIntent, insertOutcomes } from '../../support/records/documents';

const RECORDS = ['intent', 'outcome', 'refusal', 'answer_shape'];
const PEOPLE = ['intent_body', 'outcome_body'];

/** Records are append-only rows. People are in separate rows. */
describe('records', () => {
  let paying: PaymentScene;
  let proxyRole: Client;
  beforeAll(async () => {
    paying = await startPaying();
    proxyRole = new Client({ connectionString: paying.proxy.database.url });
    await proxyRole.connect();
    await paying.pay().expect(200);
    await paying.proxy.post(paying.app, '/payouts/airtime', {}).expect(400);
  });
  afterAll(async () => {
    await proxyRole.end();
    await paying.close();
  });

  const query: TestDatabase['query'] = (sql, parameters) => paying.proxy.database.query(sql, parameters);
  const callOf = (response: { headers: Record<string, string> }) => response.headers['x-call-id'] ?? '';
  async function partitionsOf(tables: string[]): Promise<string[]> {
    const rows = await query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits
       WHERE inhparent = ANY($1::regclass[]) ORDER BY 1`,
      [tables],
    );
    return rows.map(({ name }) => name);
  }
  const firstColumn = (table: string) =>
    ['intent', 'refusal', 'answer_shape'].some(
      (name) => table.replace(/_(default|\d{4}_\d{2})$/, '') === name,
    )
      ? 'id'
      : 'intent_id';

  it('can only be inserted and read by the proxy, not updated, deleted, truncated or altered', async () => {
    const partitions = await partitionsOf([...RECORDS, ...PEOPLE]);
    expect(partitions.length).toBeGreaterThanOrEqual(5 * 3); // A default, this month, and the next.
    for (const table of [...RECORDS, ...PEOPLE, ...partitions]) {
      const id = firstColumn(table);
      for (const sql of [
        `UPDATE ${table} SET ${id} = ${id}`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table}`,
        `DROP TABLE ${table}`,
        `ALTER TABLE ${table} ADD COLUMN more text`,
        `ALTER TABLE ${table} DISABLE TRIGGER ALL`,
        `ALTER TABLE ${table} OWNER TO payout_proxy`,
        `CREATE RULE nothing AS ON INSERT TO ${table} DO INSTEAD NOTHING`,
      ]) {
        expect([sql, await proxyRole.query(sql).catch(({ code }: { code: string }) => code)]).toEqual([
          sql,
          '42501',
        ]);
      }
    }
    for (const sql of [
      'SET session_replication_role = replica',
      'CREATE TABLE public.own (x int)',
      'DROP FUNCTION refuse_change() CASCADE',
      `CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql
       AS 'BEGIN RETURN NULL; END'`,
      "SELECT make_partition('intent', 'intent_own', 'DEFAULT')",
      'DELETE FROM client',
      'DELETE FROM api_key',
    ]) {
      expect([sql, await proxyRole.query(sql).catch(({ code }: { code: string }) => code)]).toEqual([
        sql,
        '42501',
      ]);
    }
  });

  it.each(['UPDATE', 'DELETE', 'TRUNCATE'])(
    'reject %s even by their owner, in every partition',
    async (change) => {
      // A row for the default partition.
      await insertOutcomes(paying.proxy.database, [
        { intent_id: uuidv7({ msecs: Date.parse('2001-01-01') }) },
      ]);
      const filled: { table: string; rows: number }[] = [];
      for (const table of [...RECORDS, ...(await partitionsOf(RECORDS))]) {
        const { rows } = first(await query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${table}`));
        filled.push({ table, rows });
      }
      const refused: string[] = [];
      for (const { table, rows } of filled) {
        if (change !== 'TRUNCATE' && rows === 0) continue;
        const id = firstColumn(table);
        const sql = { UPDATE: `UPDATE ${table} SET ${id} = ${id}`, DELETE: `DELETE FROM ${table}` }[change];
        const code = await query(sql ?? `TRUNCATE ${table}`).catch((error: { code: string }) => error.code);
        expect([table, code]).toEqual([table, '23001']);
        refused.push(table);
      }
      expect(refused).toEqual(expect.arrayContaining(['intent', 'outcome', 'refusal', 'outcome_default']));
      await expect(
        query(`INSERT INTO intent SELECT * FROM intent ON CONFLICT (id) DO UPDATE SET record = '{}'`),
      ).rejects.toMatchObject({ code: '23001' });
      for (const { table, rows } of filled) {
        expect(await query(`SELECT count(*)::int AS rows FROM ${table}`)).toEqual([{ rows }]);
      }
    },
  );

  it('have UUIDv7 IDs with the time of their call', async () => {
    expect(clock.isCompared).toBe(true);
    const before = Date.now() - clock.errorMs;
    const got = await paying.pay().expect(200);
    const id = callOf(got);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const at = parseInt(id.replaceAll('-', '').slice(0, 12), 16);
    expect(at).toBeGreaterThanOrEqual(Math.floor(before));
    expect(at).toBeLessThanOrEqual(Date.now() + clock.errorMs);
  });

  it('store money exactly', async () => {
    const pay = async (amounts: number[]) => {
      const airtimes = amounts.map((valueInUSD) => ({ ...AIRTIME.airtimes[0], valueInUSD }));
      const got = await paying.proxy.post(paying.app, '/payouts/airtime', { airtimes }).expect(200);
      const [intent] = await query('SELECT total_usd::text AS total FROM intent WHERE id = $1', [
        callOf(got),
      ]);
      const items = await query(
        'SELECT amount_usd::text AS amount FROM intent_item WHERE intent_id = $1 ORDER BY position',
        [callOf(got)],
      );
      const record = await paying.record(got);
      return { total: intent?.total, amounts: items.map(({ amount }) => amount), told: record.total_usd };
    };
    expect(await pay([0.1, 0.2])).toEqual({ total: '0.3', amounts: ['0.1', '0.2'], told: '0.3' });
    expect((await pay([0.000001, 999_999_999])).total).toBe('999999999.000001');
    expect((await pay([123_456_789.123456, 0.999999])).told).toBe('123456790.123455');
    const thousand = await pay(Array.from({ length: 1_000 }, () => 0.1));
    expect([thousand.total, thousand.amounts.length]).toEqual(['100', 1_000]);
  });

  it('store the exact bytes sent and received', async () => {
    const reply = Buffer.from(
      '{"status": "success",\r\n "data": {"name":"\u00e9\\u00e9 \ud83d\ude00", "n": 1.0e+1}}  ',
    );
    paying.upstream.behaviour = (_request, response) => response.end(reply);
    const got = await paying.pay().buffer(true).parse(bytes);
    expect(got.body).toEqual(reply);
    const [row] = await query(
      `SELECT i.body AS sent, o.body AS received
       FROM intent_body i JOIN outcome_body o USING (intent_id) WHERE intent_id = $1`,
      [callOf(got)],
    );
    expect(row).toEqual({ sent: Buffer.from(paying.upstream.received.at(-1)?.body ?? ''), received: reply });
    paying.upstream.behaviour = answer(200, { status: 'success' });
  });

  it('show an intent older than the timeout without an outcome as in doubt', async () => {
    const msecs = Date.now() - 3_600_000;
    const id = uuidv7({ msecs });
    await insertIntent(paying.proxy.database, { id, recorded_at: new Date(msecs).toISOString() });
    expect(await paying.record({ headers: { 'x-call-id': id } })).toMatchObject({
      outcome: 'unknown',
      upstream: null,
    });
    expect(await paying.listed('unknown')).toEqual([id]);
    expect(await paying.listed('in_progress')).toEqual([]);
  });

  it('store people separately, which can be erased while the commitments stay valid', async () => {
    const people = { email: 'ada@example.com', twitter: '@ada_lovelace' };
    const credits = [{ ...people, valueInUSD: 1 }];
    paying.upstream.behaviour = answer(200, {
      status: 'success',
      data: { data: [{ chiRef: 'c-1', ...people }] },
    });
    const id = callOf(await paying.proxy.post(paying.app, '/payouts/credit', { credits }).expect(200));
    for (const bad of [
      { email: 'ada@example.com@' },
      { 'ada@example.com': 1 },
      { '+254799999999': 1 },
      { '254799999999': 1 },
    ]) {
      await paying.proxy.post(paying.app, '/payouts/credit', { credits: [bad] }).expect(400);
    }
    const last = callOf(await paying.pay('+254799999999').expect(200));
    // Both answers have a new shape, which is written after the app's answer.
    const shapes = 'SELECT FROM answer_shape WHERE first_call_id = ANY ($1::uuid[])';
    await eventually(async () => (await query(shapes, [[id, last]])).length === 2);

    const dump = async () => {
      const tables = RECORDS.map((table) => `SELECT t::text AS row FROM ${table} t`).join(' UNION ALL ');
      const rows = await query(`SELECT row FROM (${tables}) AS records ORDER BY row`);
      return rows.map(({ row }) => row as string).join('\n');
    };
    const [recipient] = await query<{ people: string; salt: Buffer }>(
      'SELECT people, people_salt AS salt FROM intent_body WHERE intent_id = $1',
      [id],
    );
    const [sent] = await query<{ salt: Buffer; body: Buffer }>(
      'SELECT salt, body FROM intent_body WHERE intent_id = $1',
      [id],
    );
    const [received] = await query<{ salt: Buffer; body: Buffer }>(
      'SELECT salt, body FROM outcome_body WHERE intent_id = $1',
      [id],
    );
    const before = await dump();
    for (const table of PEOPLE) await query(`DELETE FROM ${table} WHERE intent_id = $1`, [id]);
    expect((await dump()) === before).toBe(true);
    for (const person of ['ada@', 'lovelace', 'example.com', '54799999999']) {
      const traces = [person, Buffer.from(person).toString('hex'), Buffer.from(person).toString('base64')];
      expect([person, traces.filter((trace) => before.toLowerCase().includes(trace.toLowerCase()))]).toEqual([
        person,
        [],
      ]);
    }
    const commit = (kept: { salt: Buffer } | undefined, value: Buffer | string) =>
      createHash('sha256').update(kept!.salt).update(value).digest();
    expect(
      await query(
        `SELECT decode(i.record::json ->> 'body_commitment', 'hex') AS sent,
           decode(o.record::json ->> 'body_commitment', 'hex') AS received,
           i.record::json ->> 'recipients_commitment' AS recipients
         FROM intent i JOIN outcome o ON o.intent_id = i.id
         WHERE i.id = $1`,
        [id],
      ),
    ).toEqual([
      {
        sent: commit(sent, sent!.body),
        received: commit(received, received!.body),
        recipients: recipientsCommitment(id, {
          people: [{ email: people.email, handle: people.twitter, position: 0 }],
          peopleSalt: recipient!.salt,
        })?.toString('hex'),
      },
    ]);
    const erased = await paying.record({ headers: { 'x-call-id': id } });
    expect(erased).toMatchObject({ outcome: 'succeeded', request: { body: null }, response: { body: null } });
    expect(erased.items[0]).toMatchObject({ recipient: { email: null, handle: null }, amount_usd: '1' });
  });
});
