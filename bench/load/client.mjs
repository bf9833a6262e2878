/**
 * A load generator in a process of its own. Its parent starts each round and receives its result. No two
 * requests are equal.
 *
 * A round is a closed loop, in which each connection sends its next request once it has the answer of the
 * last one, or an open loop, in which requests are due at a fixed rate. A request of an open loop that finds
 * no free connection waits, and its latency counts from when it was due. So a stall delays all requests that
 * it would delay in production.
 */
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers';
import { Client } from 'undici';
import { bodies } from './bodies.mjs';

let serial = 0;

process.on('message', async (round) => process.send(await run(round)));

/**
 * @param round {urls, connections, operation, apiKey, idempotencyKeys} and its length: `seconds`, or a number
 *   of `requests`. A `rate`, in requests per second, makes it an open loop. `routes`, [{url, apiKey}],
 *   replace the URLs and the key: each request takes one at random. `tokens` replace the key: each connection
 *   sends one of them, as the app of one person does.
 */
async function run({
  urls,
  connections,
  seconds,
  requests,
  rate,
  operation,
  apiKey,
  tokens,
  routes,
  idempotencyKeys,
}) {
  const { path, bodyOf } = bodies[operation];
  const latencies = [];
  const failures = new Map();
  const clients = Array.from({ length: connections }, (_, place) =>
    routes
      ? connectionTo(routes)
      : fixedConnection(
          urls[place % urls.length],
          tokens ? withToken(tokens[place % tokens.length]) : withKey(apiKey),
        ),
  );
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  if (rate === undefined) await closedLoop({ clients, send, seconds, requests });
  else await openLoop({ clients, send, seconds, rate });
  const elapsed = (performance.now() - begun) / 1_000;
  const cpu = process.cpuUsage(cpuBefore);
  await Promise.all(clients.map((client) => client.destroy()));
  latencies.sort((a, b) => a - b);
  return {
    requests: latencies.length,
    seconds: elapsed,
    failures: [...failures],
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
    medianMs: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    maxMs: latencies.at(-1) ?? NaN,
  };

  /** @param due when its latency begins. */
  function send(client, due, then) {
    serial += 1;
    const note = (failure) => {
      if (failure === undefined) latencies.push(performance.now() - due);
      else failures.set(failure, (failures.get(failure) ?? 0) + 1);
      then();
    };
    const { connection, credential } = client.next();
    const headers = { 'content-type': 'application/json', ...credential };
    if (idempotencyKeys) headers['idempotency-key'] = randomUUID();
    connection.dispatch({ method: 'POST', path, headers, body: bodyOf(serial) }, answerHandler(note));
  }
}

const withKey = (key) => ({ 'x-api-key': key });
const withToken = (token) => ({ authorization: `Bearer ${token}` });

function fixedConnection(url, credential) {
  const connection = new Client(url);
  return { next: () => ({ connection, credential }), destroy: () => connection.destroy() };
}

/** Is connected to each URL, and uses one at a time. */
function connectionTo(routes) {
  const byUrl = new Map([...new Set(routes.map(({ url }) => url))].map((url) => [url, new Client(url)]));
  return {
    next: () => {
      const { url, apiKey } = routes[Math.floor(Math.random() * routes.length)];
      return { connection: byUrl.get(url), credential: withKey(apiKey) };
    },
    destroy: () => Promise.all([...byUrl.values()].map((connection) => connection.destroy())),
  };
}

/** Keeps all connections busy. */
async function closedLoop({ clients, send, seconds = Infinity, requests = Infinity }) {
  const end = performance.now() + seconds * 1_000;
  let left = requests;
  const keepAsking = (client) =>
    new Promise((resolve) => {
      const next = () => {
        const now = performance.now();
        if (now >= end || left <= 0) return resolve();
        left -= 1;
        send(client, now, next);
      };
      next();
    });
  await Promise.all(clients.map(keepAsking));
}

/** Sends each request when it is due, or as soon as a connection is free. It ends when all have an answer. */
function openLoop({ clients, send, seconds, rate }) {
  const total = Math.max(1, Math.floor(rate * seconds));
  const begun = performance.now();
  const dueAt = (place) => begun + (place * 1_000) / rate;
  const free = [...clients];
  let [arrived, sent, answered] = [0, 0, 0];
  return new Promise((resolve) => {
    const sendWaiting = () => {
      while (sent < arrived && free.length > 0) {
        const client = free.pop();
        send(client, dueAt(sent), () => {
          answered += 1;
          free.push(client);
          if (answered === total) resolve();
          else sendWaiting();
        });
        sent += 1;
      }
    };
    const arrive = () => {
      while (arrived < total && dueAt(arrived) <= performance.now()) arrived += 1;
      sendWaiting();
      if (arrived < total) setTimeout(arrive, dueAt(arrived) - performance.now());
    };
    arrive();
  });
}

/** @param note gets the reason why the answer does not count. Undefined if it counts. */
function answerHandler(note) {
  let status = 0;
  let said = '';
  return {
    onRequestStart: () => undefined,
    onResponseStart: (_controller, statusCode) => (status = statusCode),
    onResponseData: (_controller, chunk) => {
      if (status !== 200) said += chunk;
    },
    onResponseEnd: () => note(status === 200 ? undefined : `${status} ${said.slice(0, 300)}`),
    onResponseError: (_controller, error) => note(error.message),
  };
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
