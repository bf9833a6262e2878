import { randomInt } from 'node:crypto';
import { INestApplicationContext } from '@nestjs/common';
import { type Payment, type PaymentResult, PayoutProxy } from '../../../packages/sdk/src/index.ts';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import { randomNumbers } from '../../../src/sandbox/faults/faults';
import type { Method } from '../http/request';
import supertest from '../http/supertest';
import { unreliableFetch } from '../network/unreliable-network';
import { eventually } from '../payments/paying';
import { startProxyWithSandbox } from '../processes/proxy';
import { askSandbox } from './sandbox-answers';

const SEED = Number(process.env.SDK_SEED ?? randomInt(1_000_000));
/** Number of payments before and after the others, which prove to the resolver that the list is complete. */
const OTHERS = 8;
const AT_ONCE = 32;
const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const LATE_MS = 200;
/** Timeout of a run, in ms. Two thousand payments take long with little CPU. */
const TIMEOUT_MS = 30 * 60_000;
/** Number of payments that covers every outcome, however the faults strike. */
const ENOUGH_PAYMENTS = 1_000;

/** Each strikes 1.5 % of the requests. `duplicateTransaction` is omitted, because it pays twice. */
const FAULTS = [
  { fault: 'noResponse' },
  { fault: 'resetBeforeProcessing' },
  { fault: 'resetAfterProcessing' },
  { fault: 'lateProcessing', ms: LATE_MS },
  { fault: 'lateProcessing', ms: LATE_MS, status: 500 },
  { fault: 'error500' },
  { fault: 'error500AfterProcessing' },
  { fault: 'error500AfterSome' },
  { fault: 'errorBesideTransactions' },
  { fault: 'errorNamingTransactions' },
  { fault: 'successNamingNothing' },
  { fault: 'error502Html' },
  { fault: 'error502Html', processed: false },
  { fault: 'truncatedBody' },
  { fault: 'malformedJson' },
  { fault: 'redirect', processed: false },
  { fault: 'unauthorized' },
  { fault: 'tooManyRequests', retryAfter: 0 },
];
const PROBABILITY = 0.015;

/** A payment of one to three items, to recipients without other payments. */
interface Order {
  operation: 'POST /payouts/airtime' | 'POST /payouts/credit';
  recipients: string[];
  payment: Payment;
  /** The last result of the SDK. */
  result: PaymentResult | undefined;
}

/** A request in the sandbox's records. */
interface Arrival {
  fault: string | null;
  processed: boolean;
  answeredAt: unknown;
}

/** Declares the test of this many payments of one app. */
export function describePayments(payments: number): void {
  describe(`SDK payments over an unreliable network to a lying provider (SDK_SEED=${SEED})`, () => {
    let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
    let worker: INestApplicationContext;
    let app: string;
    let reconciler: string;

    beforeAll(async () => {
      proxy = await startProxyWithSandbox({
        upstreamTimeoutMs: 10_000, // ends only unanswered requests
        resolverQuietSeconds: 3_600,
        checkCoverage: false,
      });
      worker = await proxy.startWorker();
      app = (await proxy.client('app', 'pay', 'read')).key;
      reconciler = (await proxy.client('reconciler', 'reconcile')).key;
    });
    afterAll(() => proxy.close());

    const control = <Verb extends Method, const Path extends string>(
      method: Verb,
      path: Path,
      body?: object,
    ) => askSandbox(proxy.sandbox.url)[method](`/_sandbox${path}`).set(CONTROL).send(body);

    /** Prepares an order with its own random network, so that its fate is the same in each run. */
    function prepare(number: number, keyOf?: string): Order {
      const seed = SEED + number * 1_000;
      const random = randomNumbers(seed);
      const isAirtime = random() < 0.5;
      const count = 1 + Math.floor(random() * 3);
      const digits = (item: number) => String(number * 10 + item).padStart(8, '0');
      const recipients = Array.from({ length: count }, (_, item) =>
        isAirtime ? `+2547${digits(item)}` : `recipient.${number}.${item}@example.com`,
      );
      const valueInUSD = (0.01 + number / 1_000_000).toFixed(6);
      const client = new PayoutProxy({
        baseUrl: proxy.url,
        apiKey: app,
        fetch: unreliableFetch(keyOf === undefined ? seed : seed + 1),
        timeoutMs: 60_000, // the network fails at random, and never by lack of CPU
        retries: { most: 4, firstMs: 5, longestMs: 3_000 },
      });
      const options = keyOf === undefined ? {} : { idempotencyKey: keyOf };
      const payment = isAirtime
        ? client.payouts.airtime(
            {
              airtimes: recipients.map((phoneNumber) => ({
                countryToSend: 'Kenya',
                phoneNumber,
                valueInUSD,
              })),
            },
            options,
          )
        : client.payouts.credit({ credits: recipients.map((email) => ({ email, valueInUSD })) }, options);
      const operation = isAirtime ? 'POST /payouts/airtime' : 'POST /payouts/credit';
      return { operation, recipients, payment, result: undefined };
    }

    /** Sends an order. Some apps abort. */
    async function send(number: number): Promise<Order> {
      const order = prepare(number);
      const random = randomNumbers(SEED + number * 1_000 + 7);
      const signal = random() < 0.1 ? AbortSignal.timeout(Math.floor(random() * 40)) : undefined;
      order.result = await order.payment.send({ signal }).catch((error: unknown) => {
        if (signal?.aborted) return undefined;
        throw error;
      });
      return order;
    }

    /** Crashes some apps, and continues with their stored key. */
    async function restart(order: Order, number: number): Promise<Order> {
      if (number % 10 > 0) return order;
      const continued = prepare(number, order.payment.idempotencyKey);
      continued.result = await continued.payment.send();
      return continued;
    }

    async function inParallel<Result>(
      count: number,
      run: (number: number) => Promise<Result>,
    ): Promise<Result[]> {
      const results: Result[] = [];
      let next = 0;
      const work = async () => {
        for (let number = next++; number < count; number = next++) results[number] = await run(number);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return results;
    }

    const arrivals = async () => (await control('get', '/requests').expect(200)).body;
    const isOver = ({ fault, processed, answeredAt }: Arrival) =>
      processed || fault === 'resetBeforeProcessing' || (answeredAt !== null && fault !== 'lateProcessing');

    const round = () =>
      supertest(proxy.url)
        .post('/v1/reconciliation/resolver/rounds')
        .set('X-API-Key', reconciler)
        .expect(200);

    async function settle(order: Order): Promise<void> {
      for await (const result of order.payment.follow()) order.result = result;
    }

    /** Sends an order until it is on record, possibly in doubt. */
    async function record(order: Order): Promise<void> {
      const isOnRecord = ({ result }: Order) =>
        result !== undefined && (result.settled || result.callId !== undefined);
      while (!isOnRecord(order)) order.result = await order.payment.send();
    }

    /** Sends all orders while the provider fails, and follows each until it is settled. */
    async function paid(): Promise<Order[]> {
      // Older than all others in the provider's list.
      await inParallel(OTHERS, (number) => record(prepare(payments + number)));
      for (const [at, fault] of FAULTS.entries()) {
        await control('post', '/faults', { ...fault, probability: PROBABILITY, seed: SEED + at }).expect(201);
      }
      const sent = await inParallel(payments, send);
      const orders = await inParallel(payments, (number) => restart(sent[number] as Order, number));
      await control('delete', '/faults');
      await inParallel(payments, (number) => record(orders[number] as Order));
      await eventually(async () => (await arrivals()).every(isOver), TIMEOUT_MS);
      // Nothing is in flight any more.
      Object.assign(worker.get(PollService).rules, { quietMs: 0, rejectedQuietMs: 0 });
      // Newer than all others.
      await inParallel(OTHERS, (number) => record(prepare(payments + OTHERS + number)));
      const rounds = eventually(async () => {
        await round();
        return orders.every(({ result }) => result?.settled);
      }, TIMEOUT_MS);
      await inParallel(payments, (number) => settle(orders[number] as Order));
      await rounds;
      return orders;
    }

    it(
      'are each made at most once, and settled() agrees with the provider',
      async () => {
        const orders = await paid();
        const { body: transactions } = await control('get', '/transactions').expect(200);
        const timesPaid = new Map<string, number>();
        for (const { phoneNumber, email, truth } of transactions) {
          const recipient = phoneNumber ?? email ?? '';
          if (truth.money !== 'kept') timesPaid.set(recipient, (timesPaid.get(recipient) ?? 0) + 1);
        }
        const wrong = orders.flatMap(({ recipients, result }) => {
          const truth = recipients.map((recipient) => timesPaid.get(recipient) ?? 0);
          const reported = recipients.map((_, item) => (isPaid(result, item) ? 1 : 0));
          return String(truth) === String(reported) ? [] : [{ truth, reported, result }];
        });
        expect(wrong).toEqual([]);
        const statuses = new Set(orders.map(({ result }) => result?.status));
        if (payments >= ENOUGH_PAYMENTS)
          expect([...statuses].sort()).toEqual(['not_sent', 'partially', 'succeeded']);
      },
      TIMEOUT_MS,
    );
  });
}

/** Returns whether a settled result shows the item at this position as paid. */
function isPaid(result: PaymentResult | undefined, position: number): boolean {
  if (result?.status !== 'succeeded' && result?.status !== 'partially') return false;
  return result.items?.[position]?.state === 'paid';
}
