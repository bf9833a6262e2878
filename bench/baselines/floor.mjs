/**
 * The least code that keeps the first promise: no byte is sent to the upstream before its intent is durable,
 * and no response is sent to the app before its outcome is durable. It uses bare node:http, undici and pg. It
 * limits, replays, searches and proves nothing.
 */
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { Pool } from 'undici';
import { v7 } from 'uuid';
import { listen, settings } from './support/contestant.mjs';
import { GroupCommit } from './support/group-commit.mjs';

const [upstreamUrl, upstreamKey, apiKey, databaseUrl] = settings(
  'UPSTREAM_URL',
  'UPSTREAM_API_KEY',
  'API_KEY',
  'DATABASE_URL',
);
const TABLES = `
  CREATE SCHEMA IF NOT EXISTS floor;
  CREATE TABLE IF NOT EXISTS floor.intent (
    id uuid PRIMARY KEY, recorded_at timestamptz NOT NULL, operation text NOT NULL, body bytea NOT NULL);
  CREATE TABLE IF NOT EXISTS floor.outcome (
    intent_id uuid PRIMARY KEY, status integer NOT NULL, body bytea NOT NULL)`;
const INSERT_INTENTS = `
  INSERT INTO floor.intent SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::bytea[])`;
const INSERT_OUTCOMES = `
  INSERT INTO floor.outcome SELECT * FROM unnest($1::uuid[], $2::integer[], $3::bytea[])`;

/** By path: the operation's name, and the field of its items. */
const OPERATIONS = new Map([
  ['/api/v0.1/payouts/airtime', { operation: 'POST /payouts/airtime', items: 'airtimes' }],
  ['/api/v0.1/payouts/mobile-money', { operation: 'POST /payouts/mobile-money', items: 'momos' }],
]);

/** Headers of one connection only (RFC 9110, section 7.6.1). Host and length are written anew. */
const NOT_PASSED = new Set(
  'connection keep-alive te trailer transfer-encoding upgrade host content-length'.split(' '),
);

const keys = new Map([[hash('sha256', apiKey), 'bench']]);
const upstream = new Pool(upstreamUrl, { connections: 256 });
const intents = new GroupCommit(await connected(), 'intents', INSERT_INTENTS);
const outcomes = new GroupCommit(await connected(), 'outcomes', INSERT_OUTCOMES);

listen(
  createServer((request, response) => {
    pay(request, response).catch(() => refuse(response, 502, 'not recorded, or not answered'));
  }),
);

async function pay(request, response) {
  const body = await bytesOf(request);
  if (!keys.has(hash('sha256', request.headers['x-api-key'] ?? '')))
    return refuse(response, 401, 'unknown key');
  const known = request.method === 'POST' && OPERATIONS.get(request.url);
  if (!known) return refuse(response, 404, 'no such operation');
  if (!isPayout(body, known.items)) return refuse(response, 400, `${known.items} must be a list of payouts`);

  const id = v7();
  await intents.add([id, new Date().toISOString(), known.operation, body]);
  const answer = await upstream.request({
    method: 'POST',
    path: request.url,
    headers: { ...passed(request.headers), 'x-api-key': upstreamKey },
    body,
  });
  const answered = Buffer.from(await answer.body.arrayBuffer());
  await outcomes.add([id, answer.statusCode, answered]);
  response.writeHead(answer.statusCode, { ...passed(answer.headers), 'content-length': answered.length });
  response.end(answered);
}

function isPayout(body, field) {
  try {
    const items = JSON.parse(body)[field];
    return items.length > 0 && items.every(({ phoneNumber, valueInUSD }) => phoneNumber && valueInUSD > 0);
  } catch {
    return false;
  }
}

function passed(headers) {
  const kept = {};
  for (const name in headers) if (!NOT_PASSED.has(name)) kept[name] = headers[name];
  return kept;
}

function refuse(response, status, error) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ status: 'error', error }));
}

function bytesOf(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

async function connected() {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(TABLES);
  return client;
}
