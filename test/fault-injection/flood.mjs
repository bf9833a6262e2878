/**
 * Sends payments from a separate process, so that the load does not share a core's time slices with the
 * measurement. Its parent starts each round and receives the answer to each request.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers';
import { Client } from 'undici';

process.on('message', async (round) => process.send(await run(round)));

/**
 * @param round {urls, apiKeys, first, connections, seconds} is a closed loop. With a `rate` per second, it is
 *   an open loop, which sends each request at its scheduled time. `prefer` is the header Prefer of all.
 * @returns the answers: [number of the request, status or 0, code, call ID, milliseconds].
 */
async function run({ urls, apiKeys, first, connections, seconds, rate, prefer }) {
  const clients = new FreeClients(urls, connections);
  const answers = [];
  let number = first;
  const send = async () => {
    const mine = number;
    number += 1;
    const sentAt = performance.now();
    const client = await clients.take();
    const app = { apiKey: apiKeys[mine % apiKeys.length], prefer };
    const [status, code, callId] = await once(client, app, mine);
    answers.push([mine, status, code, callId, Math.round(performance.now() - sentAt)]);
    clients.release(client);
  };
  const end = performance.now() + seconds * 1_000;
  if (rate === undefined) await Promise.all(Array.from({ length: connections }, () => keepAsking(send, end)));
  else await openLoop(send, rate, end);
  await clients.destroy();
  return answers;
}

/** Clients of one connection each. A Pool of undici searches thousands of them for a free one, each time. */
class FreeClients {
  all = [];
  free = [];
  waiting = [];

  constructor(urls, connections) {
    Object.assign(this, { urls, connections });
  }

  /** Resolves with a free client, in the order of the calls. */
  async take() {
    if (this.free.length > 0) return this.free.pop();
    if (this.all.length === this.connections) return new Promise((resolve) => this.waiting.push(resolve));
    const client = new Client(this.urls[this.all.length % this.urls.length], { pipelining: 1 });
    this.all.push(client);
    return client;
  }

  release(client) {
    const next = this.waiting.shift();
    if (next) next(client);
    else this.free.push(client);
  }

  async destroy() {
    await Promise.all(this.all.map((client) => client.destroy()));
  }
}

async function keepAsking(send, end) {
  while (performance.now() < end) await send();
}

async function openLoop(send, rate, end) {
  const begun = performance.now();
  const running = new Set();
  let sent = 0;
  while (performance.now() < end) {
    for (const due = ((performance.now() - begun) * rate) / 1_000; sent < due; sent += 1) {
      const one = send().finally(() => running.delete(one));
      running.add(one);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await Promise.all(running);
}

function once(client, { apiKey, prefer }, number) {
  const body = JSON.stringify(bodyOf(number));
  const headers = {
    'content-type': 'application/json',
    'x-api-key': apiKey,
    'idempotency-key': `order-${number}`,
    ...(prefer && { prefer }),
  };
  return new Promise((resolve) => {
    let [status, callId, said] = [0, undefined, ''];
    client.dispatch(
      { method: 'POST', path: '/api/v0.1/payouts/airtime', headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, statusCode, head) => {
          status = statusCode;
          callId = head['x-call-id'];
        },
        onResponseData: (_controller, chunk) => {
          if (status !== 200) said += chunk;
        },
        onResponseEnd: () => resolve([status, status === 200 ? undefined : codeOf(said), callId]),
        onResponseError: (_controller, error) => resolve([0, error.code ?? error.message, callId]),
      },
    );
  });
}

/** Returns the same body as `orderOf` in payments.ts. */
function bodyOf(number) {
  const phoneNumber = `+2547${String(number).padStart(8, '0')}`;
  return { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD: 0.25 }] };
}

function codeOf(text) {
  try {
    return JSON.parse(text).code;
  } catch {
    return 'unreadable';
  }
}
