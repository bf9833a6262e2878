/**
 * The worst load of users other than the payers, in a process of its own. Its parent starts and ends it with
 * messages: {begin: {url, readers, streams, exporters, senders, kinds}} and {end: true}. It responds with the
 * number of answers by kind and status.
 *
 * After 429 or 503, each user waits for Retry-After, like a good client.
 */
import { once, setMaxListeners } from 'node:events';
import { Agent, get, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { URL } from 'node:url';
import { READER_KINDS } from './readers.mjs';

/** Longest page that the proxy allows. */
const BODY_BYTES = 1_000_000;

/** Pages that are read before the deep one is asked for again and again. */
const DEPTH = 20;
const PAGE = 200;

const SUMMARIES = [
  'summary?group_by=country',
  'summary?group_by=client',
  'summary?group_by=outcome&min_item_usd=5',
  'summary?group_by=day',
];
const PREFIXES = ['+2547', '+234', 'grace.1', '+25', 'mary', '+2348'];

let running;

process.on('message', async ({ begin, end }) => {
  if (begin) running = start(begin);
  if (end) {
    process.send(await running.stop());
    running = undefined;
  }
});

function start({ url, kinds, readers, streams, exporters, senders }) {
  const counts = {};
  const count = (kind, status) => {
    counts[kind] ??= {};
    counts[kind][status] = (counts[kind][status] ?? 0) + 1;
  };
  const stopped = new AbortController();
  setMaxListeners(0, stopped.signal);
  const scene = { url, count, signal: stopped.signal };
  const all = [
    ...readersOf(kinds, readers).map(([kind, key], place) => read(scene, { kind, key, place })),
    ...(kinds.includes('streams') ? streams.map((key) => follow(scene, key)) : []),
    ...(kinds.includes('exports') ? exporters.map((key) => stall(scene, key)) : []),
    ...(kinds.includes('faults') ? senders.map((key) => sendFaults(scene, key)) : []),
  ];
  return {
    stop: async () => {
      stopped.abort();
      await Promise.all(all);
      return counts;
    },
  };
}

/** Repeats work until the end. Broken connections are counted like answers. */
async function repeat({ signal, count }, kind, work) {
  while (!signal.aborted) {
    try {
      const { status, retryAfter } = await work();
      count(kind, status);
      if (status === 429 || status === 503) await sleep(1_000 * (retryAfter ?? 1), undefined, { signal });
    } catch (error) {
      if (signal.aborted) return;
      count(kind, error.code ?? error.message);
      await sleep(1_000, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Returns readers of as many kinds as are wanted, equally many of each. */
function readersOf(kinds, keys) {
  const wanted = READER_KINDS.filter((kind) => kinds.includes(kind));
  return wanted.length === 0 ? [] : keys.map((key, place) => [wanted[place % wanted.length], key]);
}

/** Requests summaries, searches for prefixes, or reads a deep page, repeatedly. */
async function read(scene, { kind, key, place }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (path) => answerOf(scene, { path: `/v1/audit/${path}`, key, agent });
  const prefixed = (n) =>
    `calls?recipient_prefix=${encodeURIComponent(PREFIXES[n % PREFIXES.length])}&page_size=${PAGE}`;
  let [n, token, depth] = [place, '', 0];
  const asks = {
    summaries: () => ask(SUMMARIES[n % SUMMARIES.length]),
    prefixes: () => ask(prefixed(n)),
    pages: async () => {
      const answer = await ask(
        `items?page_size=${PAGE}&country=Nigeria&sort=amount${token && `&page_token=${token}`}`,
      );
      if (answer.status === 200 && depth < DEPTH) {
        token = encodeURIComponent(JSON.parse(answer.body).next_page_token ?? '');
        depth += 1;
      }
      return answer;
    },
  };
  await repeat(scene, kind, () => {
    n += 1;
    return asks[kind]();
  });
  agent.destroy();
}

/** Follows the overview, as a window of the console does. */
async function follow({ url, count, signal }, key) {
  await repeat({ signal, count }, 'streams', async () => {
    const asked = get(`${url}/v1/overview`, {
      headers: { 'x-api-key': key, accept: 'text/event-stream' },
      agent: false,
      signal,
    });
    const [answer] = await once(asked, 'response');
    answer.on('data', (data) => count('events', String(data).match(/^event: (\w+)/m)?.[1] ?? 'none'));
    if (answer.statusCode !== 200) answer.resume();
    await new Promise((resolve) => answer.once('close', resolve).once('error', resolve));
    return { status: answer.statusCode, retryAfter: retryAfterOf(answer) };
  });
}

/** Requests an export on a socket that never reads. */
async function stall({ url, count, signal }, key) {
  const { hostname, port } = new URL(url);
  await repeat({ signal, count }, 'stalled exports', async () => {
    const socket = connect({ host: hostname, port: Number(port), signal });
    socket.pause();
    socket.on('error', () => undefined);
    socket.write(
      `GET /v1/audit/export?format=ndjson HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: ${key}\r\n\r\n`,
    );
    await new Promise((resolve) => {
      socket.once('close', resolve);
      // A socket that reads nothing learns of its end by a write.
      const timer = setInterval(() => socket.write('\r\n'), 1_000);
      socket.once('close', () => clearInterval(timer));
    });
    return { status: 'ended' };
  });
}

/** Sends bodies of a megabyte in which every member is a fault. */
async function sendFaults(scene, key) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const bodies = [manyFields(), manyItems(), repeatedNames()];
  let n = 0;
  await repeat(scene, 'faults', () => {
    n += 1;
    const body = bodies[n % bodies.length];
    return answerOf(scene, { path: '/api/v0.1/payouts/airtime', key, agent, method: 'POST', body });
  });
  agent.destroy();
}

function manyFields() {
  return fill('{"airtimes":[{', (n) => `"f${n}":0`, '}]}');
}

function manyItems() {
  return fill('{"airtimes":[', () => '{"a":1,"b":2}', ']}');
}

function repeatedNames() {
  return fill('{"airtimes":[{"a":1', (n) => `"a${n % 5_000}":0`, '}]}', ',');
}

function fill(begin, member, end, first = '') {
  const members = [];
  for (let length = begin.length, n = 0; length < BODY_BYTES - 100; n += 1) {
    members.push(member(n));
    length += members[n].length + 1;
  }
  return Buffer.from(`${begin}${first}${members.join(',')}${end}`);
}

async function answerOf({ url, signal }, { path, key, agent, method = 'GET', body }) {
  const headers = {
    'x-api-key': key,
    ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
  };
  const asked = request(url + path, { method, headers, agent, signal });
  asked.end(body);
  const [answer] = await once(asked, 'response');
  const chunks = [];
  for await (const chunk of answer) chunks.push(chunk);
  return { status: answer.statusCode, retryAfter: retryAfterOf(answer), body: Buffer.concat(chunks) };
}

function retryAfterOf({ headers }) {
  return headers['retry-after'] && Number(headers['retry-after']);
}
