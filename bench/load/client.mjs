/**
 * A closed-loop load generator in a process of its own. Each connection sends its next request once it has the answer
 * of the last one. Its parent starts each round and gets its result. All requests differ.
 */
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { Client } from 'undici';
import { bodies } from './bodies.mjs';

let serial = 0;

process.on('message', async (round) => process.send(await run(round)));

/** @param round {urls, connections, seconds, operation, apiKey, idempotencyKeys} */
async function run({ urls, connections, seconds, operation, apiKey, idempotencyKeys }) {
  const { path, bodyOf } = bodies[operation];
  const latencies = [];
  const failures = new Map();
  const clients = Array.from({ length: connections }, (_, place) => new Client(urls[place % urls.length]));
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  const end = begun + seconds * 1_000;
  await Promise.all(clients.map((client) => keepAsking(client)));
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
  };

  function keepAsking(client) {
    return new Promise((resolve) => {
      const next = () => {
        if (performance.now() >= end) return resolve();
        serial += 1;
        const asked = performance.now();
        const note = (failure) => {
          if (failure === undefined) latencies.push(performance.now() - asked);
          else failures.set(failure, (failures.get(failure) ?? 0) + 1);
          next();
        };
        const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
        if (idempotencyKeys) headers['idempotency-key'] = randomUUID();
        client.dispatch({ method: 'POST', path, headers, body: bodyOf(serial) }, answerHandler(note));
      };
      next();
    });
  }
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
