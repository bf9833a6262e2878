import { createRequire } from 'node:module';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';

const require = createRequire(import.meta.url);
const { hashKey, newKey } = require('../../dist/access/clients/key.js');

/** The clients whose keys a benchmark needs. */
const SCOPES = { auditor: ['audit', 'audit:pii'], app: ['pay', 'write', 'read'] };

/**
 * Creates an auditor and an app in a database, of which `url` is the owner's.
 * @returns their keys, by their names.
 */
export async function makeKeys(url) {
  const keys = {};
  await withClient(url, async (client) => {
    for (const [name, scopes] of Object.entries(SCOPES)) {
      keys[name] = await addClient(client, name, scopes);
    }
  });
  return keys;
}

/** Issues a key for a client with a history, and sets every limit. None of them is ever reached. */
export async function makeKeyOf(url, name) {
  return withClient(url, async (client) => {
    const { rows } = await client.query(
      `UPDATE client SET daily_cap_usd = 999999999, monthly_cap_usd = 999999999, max_item_usd = 1000,
        max_call_usd = 100000,
         max_items = 1000, approval_over_usd = 100000, countries = '{Kenya}' WHERE name = $1 RETURNING id`,
      [name],
    );
    return addKey(client, rows[0].id, name);
  });
}

/**
 * Creates clients of one kind, each with a key.
 * @returns their keys.
 */
export async function addKeys(url, name, count, scopes) {
  return withClient(url, async (client) => {
    const keys = [];
    for (let place = 1; place <= count; place += 1)
      keys.push(await addClient(client, `${name}-${place}`, scopes));
    return keys;
  });
}

async function addClient(client, name, scopes) {
  const values = [uuidv7(), name, scopes];
  const { rows } = await client.query(
    'INSERT INTO client (id, name, scopes) VALUES ($1, $2, $3) RETURNING id',
    values,
  );
  return addKey(client, rows[0].id, name);
}

async function addKey(client, clientId, name) {
  const key = newKey(name);
  const values = [uuidv7(), clientId, hashKey(key), key.slice(-4)];
  await client.query('INSERT INTO api_key (id, client_id, sha256, hint) VALUES ($1, $2, $3, $4)', values);
  return key;
}

async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
