import { Client } from 'pg';
import { createTestDatabase, TestDatabase } from '../../../../test/support/databases/test-database';
import { ServerClient } from './server-client';

describe('Statements of a connection', () => {
  let database: TestDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => client.end());
  afterAll(() => database.close());

  const connect = async (settings: { query_timeout: number }) => {
    client = new ServerClient({ connectionString: database.ownerUrl, ...settings });
    await client.connect();
  };

  // Otherwise, pg assigns a function to the query, which keeps its rows in memory (decision 0042).
  it('reach pg with a callback, and without a time limit of its own', async () => {
    await connect({ query_timeout: 60_000 });
    const query = jest.spyOn(Client.prototype, 'query');
    await client.query('SELECT 1');
    await client.query({ text: 'SELECT $1::text', values: ['a'] });
    expect(query.mock.calls.map((given: unknown[]) => typeof given.at(-1))).toEqual(['function', 'function']);
    query.mockRestore();
    const { connectionParameters } = client as unknown as {
      connectionParameters: { query_timeout: unknown };
    };
    expect(connectionParameters.query_timeout).toBeFalsy();
  });

  it('end with their connection if they are not answered in time', async () => {
    await connect({ query_timeout: 50 });
    const ended = new Promise((resolve) => client.once('end', resolve));
    await expect(client.query('SELECT pg_sleep(60)')).rejects.toThrow('Query read timeout');
    await ended;
    await expect(client.query('SELECT 1')).rejects.toThrow(/not queryable|connection error/);
  });

  it('take callbacks, with values and without', async () => {
    await connect({ query_timeout: 60_000 });
    const plain = await new Promise((resolve) =>
      client.query('SELECT 1 AS one', (_error, { rows }) => resolve(rows)),
    );
    const text = await new Promise((resolve) =>
      client.query('SELECT $1::text AS one', ['a'], (_error, { rows }) => resolve(rows)),
    );
    const error = await new Promise((resolve) => client.query('SELECT 1/0', (one) => resolve(one)));
    expect([plain, text]).toEqual([[{ one: 1 }], [{ one: 'a' }]]);
    expect(error).toMatchObject({ code: '22012' });
  });
});
