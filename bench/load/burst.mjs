/**
 * The apps of bench/burst.mjs, in a process of its own. Its parent starts each part:
 * - {burst, number, prefer}: `number` payments at once, each on a connection of its own. An app that gets 503
 *   sends its payment again with the same key after Retry-After, until it has another answer.
 * - {rate, seconds}: payments at a fixed rate, sent once. Without `seconds`, until {end}.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { bodies } from './bodies.mjs';

const { path, bodyOf } = bodies.airtime;
/** Number of the last payment. Each process has its own range, so that no two payments are equal. */
let serial = Number(process.argv[2]);
let ended = new AbortController();

process.on('message', async (part) => {
  if (part.end) return ended.abort();
  process.send({ part: part.part, answers: await (part.burst ? burst(part) : openLoop(part)) });
});

async function burst({ url, apiKey, number, prefer }) {
  const agent = new Agent({ connections: number, headersTimeout: 0, bodyTimeout: 0 });
  const payments = Array.from({ length: number }, () => insist(agent, { url, apiKey, prefer }));
  const answers = await Promise.all(payments);
  await agent.close();
  return answers;
}

async function insist(agent, app) {
  const payment = newPayment();
  const begunAt = performance.now();
  const first = await send(agent, app, payment);
  const firstMs = performance.now() - begunAt;
  let [last, attempts] = [first, 1];
  const codes = [];
  while (last.status === 503 && last.retryAfter > 0) {
    codes.push(last.code);
    await sleep(last.retryAfter * 1_000);
    last = await send(agent, app, payment);
    attempts += 1;
  }
  const lastMs = performance.now() - begunAt;
  return { first: first.status, firstMs, last: last.status, lastMs, attempts, codes };
}

async function openLoop({ url, apiKey, rate, seconds = Infinity }) {
  ended = new AbortController();
  const agent = new Agent({ connections: 256, headersTimeout: 0, bodyTimeout: 0 });
  const begunAt = performance.now();
  const running = [];
  while (!ended.signal.aborted && performance.now() - begunAt < seconds * 1_000) {
    const sentAt = performance.now();
    running.push(
      send(agent, { url, apiKey }, newPayment()).then(({ status }) => ({
        last: status,
        lastMs: performance.now() - sentAt,
      })),
    );
    await sleep(Math.max(0, begunAt + (running.length * 1_000) / rate - performance.now()));
  }
  const answers = await Promise.all(running);
  await agent.close();
  return answers;
}

function newPayment() {
  serial += 1;
  return { body: bodyOf(serial), key: `burst-${serial}` };
}

async function send(dispatcher, { url, apiKey, prefer }, { body, key }) {
  const headers = {
    'content-type': 'application/json',
    'x-api-key': apiKey,
    'idempotency-key': key,
    ...(prefer && { prefer }),
  };
  const answer = await request(`${url}${path}`, { method: 'POST', dispatcher, headers, body });
  const text = await answer.body.text();
  const code = answer.statusCode === 200 ? undefined : JSON.parse(text).code;
  return { status: answer.statusCode, code, retryAfter: Number(answer.headers['retry-after']) };
}
