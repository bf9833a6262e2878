import { readdirSync, readFileSync } from 'node:fs';
import { Client } from 'pg';
import type * as PrismaWithColumn from '../../../test/support/databases/prisma-with-column';
import { createTestDatabase } from '../../../test/support/databases/test-database';
import type * as Row from '../../../test/support/examples/authenticated-by/row';
import { FakeUpstream, succeed } from '../../../test/support/network/fake-upstream';
import { AIRTIME, eventually } from '../../../test/support/payments/paying';
import { startProxy, TestProxy } from '../../../test/support/processes/proxy';
import { isSealed } from '../../../test/support/records/sealed-scene';
import { describeApi } from '../../cli/api-document';
import { leafSql } from '../../history/log/kinds';
import { ringOf, newSigningKey, signerOf } from '../../history/log/note';
import { verifyLog } from '../../history/log/verify/verify';
import { Secret } from '../../platform/config/secrets/secret';
import { columnsOf } from '../recovery/recovered-records';
import { IntentDocument } from './documents';
import * as RequestTable from './request-table';

const FOLDER = 'test/support/examples/authenticated-by';

// The member that its guide adds: its row and its columns. Its migration is applied below.
jest.mock<Partial<typeof RequestTable>>('./request-table', () => {
  const { REQUEST_TABLE } = jest.requireActual<typeof RequestTable>('./request-table');
  const { AUTHENTICATED_BY } = jest.requireActual<typeof Row>(
    '../../../test/support/examples/authenticated-by/row',
  );
  return { REQUEST_TABLE: { ...REQUEST_TABLE, ...AUTHENTICATED_BY } };
});
jest.mock('../../platform/database/generated/client', () => {
  const { prismaWithColumn } = jest.requireActual<typeof PrismaWithColumn>(
    '../../../test/support/databases/prisma-with-column',
  );
  return prismaWithColumn('test/support/examples/authenticated-by', 'Intent', 'Refusal');
});

describe('a member that follows the guide', () => {
  const signingKey = newSigningKey('test');
  let upstream: FakeUpstream;
  let proxy: TestProxy;
  let auditor: string;
  /** A call that was sent, and one that was refused. */
  const calls = { sent: '', refused: '' };

  beforeAll(async () => {
    upstream = await FakeUpstream.start();
    upstream.behaviour = succeed;
    const database = await createTestDatabase();
    await database.query(readFileSync(`${FOLDER}/migration.sql`, 'utf8'));
    proxy = await startProxy(
      { upstreamBaseUrl: upstream.url, logSigningKey: new Secret(signingKey) },
      database,
    );
    await proxy.startWorker();
    auditor = (await proxy.client('auditor', 'audit')).key;
    const { key } = await proxy.client('app', 'pay');
    calls.sent = await callId(key, AIRTIME);
    calls.refused = await callId(key, { airtimes: [] });
    await eventually(() => isSealed(database));
  });
  afterAll(async () => {
    await proxy.close();
    await upstream.stop();
    await proxy.database.close();
  });

  /** Without the support of our own requests, which compares every response with the OpenAPI document. */
  async function ask(path: string, key: string, body?: object): Promise<Response> {
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    return fetch(
      `${proxy.url}${path}`,
      body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
    );
  }

  async function callId(key: string, body: object): Promise<string> {
    return (await ask('/api/v0.1/payouts/airtime', key, body)).headers.get('x-call-id') ?? '';
  }

  async function asOwner<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const client = new Client({ connectionString: proxy.database.ownerUrl });
    await client.connect();
    try {
      await client.query('BEGIN; SET LOCAL session_replication_role = replica');
      return await work(client);
    } finally {
      await client.end();
    }
  }

  const verify = (change = 'SELECT') =>
    asOwner(async (client) => {
      await client.query(change);
      return verifyLog([client], { ring: ringOf([signerOf(signingKey)]), notes: [] });
    });

  const textsOf = (sql: string, id: string) =>
    asOwner(async (client) => (await client.query<{ text: string }>(sql, [id])).rows.map(({ text }) => text));

  const recordOf = async (id: string) =>
    JSON.parse(
      (await textsOf('SELECT record AS text FROM intent WHERE id = $1', id)).join(''),
    ) as IntentDocument;

  it('is in the records of requests and refusals, and in their columns', async () => {
    expect(await recordOf(calls.sent)).toMatchObject({ authenticated_by: 'key' });
    expect(Object.keys(await recordOf(calls.sent))).toEqual(Object.keys(await recordOf(calls.sent)).sort());
    for (const [table, id] of [['intent', calls.sent] as const, ['refusal', calls.refused] as const])
      expect(await textsOf(`SELECT authenticated_by AS text FROM ${table} WHERE id = $1`, id)).toEqual([
        'key',
      ]);
  });

  it('is in leaves that the log proves', async () => {
    expect((await verify()).fault).toBeNull();
    const changed = await verify(`UPDATE intent SET authenticated_by = 'session' WHERE id = '${calls.sent}'`);
    expect(changed.fault).toMatchObject({ record_id: calls.sent });
    const another = await verify(
      `UPDATE refusal SET authenticated_by = 'session' WHERE id = '${calls.refused}'`,
    );
    expect(another.fault).toMatchObject({ record_id: calls.refused });
  });

  it('keeps the leaves of earlier refusals unchanged', async () => {
    const leaf = (row: string) =>
      textsOf(
        `SELECT ${leafSql('refusal', 'r')} AS text FROM refusal AS own
        CROSS JOIN LATERAL json_populate_record(NULL::refusal, (${row})::json) AS r WHERE own.id = $1`,
        calls.refused,
      );
    const earlier = `to_jsonb(own) - 'authenticated_by'`;
    expect(await leaf('row_to_json(own)')).toEqual([expect.stringContaining('"authenticated_by":"key"')]);
    const [first = ''] = await leaf(earlier);
    expect(Object.keys(JSON.parse(first) as object)).not.toContain('actor_source');
    const [second = ''] = await leaf(`${earlier} || '{"actor_source":"claimed"}'`);
    const added = Object.keys(JSON.parse(second) as object).filter((name) => !first.includes(`"${name}"`));
    expect(added).toEqual([
      'actor_commitment',
      'actor_source',
      'credential',
      'ephemeral_key_id',
      'idempotency_key_commitment',
      'person_id',
    ]);
  });

  it('is restored from a copy', async () => {
    const copied = { kind: 'intent' as const, record: await recordOf(calls.sent), claim: null, contents: [] };
    expect(columnsOf(copied)).toMatchObject({ id: calls.sent, authenticated_by: 'key' });
  });

  it('is read through the API', async () => {
    for (const id of Object.values(calls)) {
      const response = await ask(`/v1/audit/calls/${id}`, auditor);
      expect(await response.json()).toMatchObject({ id, authenticated_by: 'key' });
    }
  });

  it('is the last column of exports', async () => {
    for (const list of ['calls', 'items']) {
      const [names = '', ...rows] = (
        await (await ask(`/v1/audit/export?format=csv&what=${list}`, auditor)).text()
      )
        .trim()
        .split('\r\n');
      expect(names.split(',').at(-1)).toBe('authenticated_by');
      expect(rows.map((row) => row.split(',').at(-1))).toEqual(list === 'calls' ? ['key', 'key'] : ['key']);
    }
  });

  it('is in the OpenAPI documents of apps and of operators', async () => {
    const { apps, staff } = (await describeApi()) as unknown as Record<'apps' | 'staff', Documented>;
    const description = 'How the caller authenticated.';
    const field = { anyOf: [{ type: 'string' }, { type: 'null' }], description };
    for (const { components } of [apps, staff])
      expect(components.schemas.CallRecord?.properties.authenticated_by).toEqual(field);
  });

  it('equals the example of the guide, line by line', () => {
    const guide = readFileSync('docs/internals/guides/add-a-member-of-a-record.md', 'utf8');
    const examples = [...guide.matchAll(/```(?:ts|sql|prisma)\n([\s\S]*?)```/g)].map(
      ([, example = '']) => example,
    );
    const files = readdirSync(FOLDER).map((name) => inOneLine(readFileSync(`${FOLDER}/${name}`, 'utf8')));
    expect(examples).toHaveLength(3);
    for (const example of examples) expect(files).toContainEqual(expect.stringContaining(inOneLine(example)));
  });
});

interface Documented {
  components: { schemas: Record<string, { properties: Record<string, object> }> };
}

function inOneLine(source: string): string {
  return source.replace(/\s+/g, ' ').trim();
}
