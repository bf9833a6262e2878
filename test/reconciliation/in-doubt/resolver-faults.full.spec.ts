import { randomInt } from 'node:crypto';
import { INestApplicationContext } from '@nestjs/common';
import { PollService } from '../../../src/reconciliation/in-doubt/rounds/poll.service';
import type { Method } from '../../support/http/request';
import supertest from '../../support/http/supertest';
import { UnansweredRequest, newUnansweredRequest } from '../../support/network/lost-answers';
import { eventually } from '../../support/payments/paying';
import { startProxyWithSandbox } from '../../support/processes/proxy';
import { askSandbox } from '../../support/sandbox/sandbox-answers';

const SEED = Number(process.env.RESOLVER_SEED ?? randomInt(1_000_000));
const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const LATE_MS = 300;

/** Each strikes one of twenty requests. */
const FAULTS = [
  { fault: 'noResponse' },
  { fault: 'resetAfterProcessing' },
  { fault: 'resetBeforeProcessing' },
  { fault: 'lateProcessing', ms: LATE_MS },
  { fault: 'error502Html' },
  { fault: 'error502Html', processed: false },
  { fault: 'truncatedBody' },
  { fault: 'truncatedBody', processed: false },
  { fault: 'malformedJson' },
  { fault: 'malformedJson', processed: false },
  { fault: 'redirect' },
  { fault: 'redirect', processed: false },
  // Many transfers share a receiver, so a second transaction of one would leave all in doubt.
  { fault: 'duplicateTransaction', operation: 'POST /payouts/airtime' },
  { fault: 'duplicateTransaction', operation: 'POST /payouts/credit' },
];

const REQUESTS = 60;
const TWINS = 12;
const AT_ONCE = 12;

/** A request in the sandbox's records. */
interface Arrival {
  body: unknown;
  fault: string | null;
  processed: boolean;
  answeredAt: string | null;
}

/** Whether its processing is finished. */
function isOver({ fault, processed, answeredAt }: Arrival): boolean {
  if (processed || fault === 'resetBeforeProcessing') return true;
  return answeredAt !== null && fault !== 'lateProcessing';
}

/**
 * Digits in the numbers of recipients whose payouts are reversed. All numbers end in them, so a transaction
 * that belongs to nobody may be the payout of each.
 */
const REVERSED = '99990101';

interface SentPayment {
  id: string;
  lost: UnansweredRequest;
  status: number;
}

/** The resolver settles calls without answers from the upstream's list, or explains the obstacle. */
describe(`the resolver, with an upstream that loses answers (RESOLVER_SEED=${SEED})`, () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let worker: INestApplicationContext;
  let app: string;
  let reconciler: string;
  let made: SentPayment[];

  beforeAll(async () => {
    proxy = await startProxyWithSandbox({ upstreamTimeoutMs: 300, resolverQuietSeconds: 3_600 });
    worker = await proxy.startWorker();
    app = (await proxy.client('app', 'pay', 'write', 'read', 'account')).key;
    reconciler = (await proxy.client('reconciler', 'reconcile')).key;
    // without faults
    for (let kind = 0; kind < 8; kind += 1) await succeed(newUnansweredRequest(1_000 + kind));
    for (const fault of FAULTS)
      await control('post', '/faults', { ...fault, probability: 0.05, seed: nextSeed() });
    made = await loseAnswers();
    await control('delete', '/faults');
    await round(); // executed ones need no wait
    await eventually(async () => (await arrivals()).every(isOver));
    worker.get(PollService).rules.quietMs = 0; // nothing more arrives
    // show how current the listing is
    for (let kind = 0; kind < 8; kind += 1) await succeed(newUnansweredRequest(2_000 + kind));
    await round();
  });
  afterAll(() => proxy.close());

  let seeds = SEED;
  const nextSeed = () => (seeds += 1);
  const control = <Verb extends Method, const Path extends string>(method: Verb, path: Path, body?: object) =>
    askSandbox(proxy.sandbox.url)[method](`/_sandbox${path}`).set(CONTROL).send(body);
  const arrivals = async (): Promise<Arrival[]> => (await control('get', '/requests').expect(200)).body;
  // in time, even on a busy machine
  const succeed = (lost: UnansweredRequest) => eventually(async () => (await send(lost)).status === 200);
  const send = ({ path, body }: UnansweredRequest) => proxy.post(app, path, body);
  const round = async () => {
    const asked = supertest(proxy.url)
      .post('/v1/reconciliation/resolver/rounds')
      .set('X-API-Key', reconciler);
    return (await asked.expect(200)).body;
  };
  const read = async (id: string) => (await proxy.get(app, `/v1/calls/${id}`).expect(200)).body;

  async function loseAnswers(): Promise<SentPayment[]> {
    const numbers = Array.from({ length: REQUESTS }, (_, number) =>
      newUnansweredRequest(number, number < TWINS),
    );
    const asked = numbers.flatMap((lost) => (lost.isRepeated ? [lost, lost] : [lost]));
    const answered: SentPayment[] = [];
    for (let first = 0; first < asked.length; first += AT_ONCE) {
      const some = asked.slice(first, first + AT_ONCE).map(async (lost) => {
        const { headers, status } = await send(lost);
        return { id: headers['x-call-id'] ?? '', lost, status };
      });
      answered.push(...(await Promise.all(some)));
    }
    return answered;
  }

  it('settles every call in doubt correctly, or explains the obstacle', async () => {
    const all = await arrivals();
    const carriedOut = ({ mark }: UnansweredRequest) =>
      all.filter(({ body, processed }) => processed && JSON.stringify(body).includes(mark)).length;
    const isTwice = ({ mark }: UnansweredRequest) =>
      all.some(({ fault, body }) => fault === 'duplicateTransaction' && JSON.stringify(body).includes(mark));
    /** Whether the doubt names only transactions of repeated or doubled payouts to a number with this end. */
    const isBlocked = ({ body }: UnansweredRequest, named: { amount_usd: string | null }[] = []) =>
      JSON.stringify(body).includes(REVERSED) &&
      named.length > 0 &&
      named.every(({ amount_usd: usd }) =>
        made.some(
          ({ lost }) => lost.mark === `"valueInUSD":${Number(usd)}}` && (lost.isRepeated || isTwice(lost)),
        ),
      );
    const settled = { confirmed: 0, not_executed: 0, unknown: 0 };
    const doubtful = made.filter(({ status }) => status === 502 || status === 504);
    for (const { id, lost } of doubtful) {
      const call = await read(id);
      settled[call.outcome as keyof typeof settled] += 1;
      if (call.outcome === 'unknown') {
        const isExpected = lost.isRepeated || isTwice(lost) || isBlocked(lost, call.doubt?.transactions);
        expect([lost, isExpected, call.doubt?.reason]).toEqual([lost, true, expect.any(String)]);
      } else if (!lost.isRepeated) {
        expect([lost, call.outcome]).toEqual([lost, carriedOut(lost) === 1 ? 'confirmed' : 'not_executed']);
      }
    }
    // Of equal requests, exactly as many are confirmed as were executed, unless one stays in doubt.
    for (const { lost } of made.filter(({ lost: { isRepeated: twin } }) => twin)) {
      const both = await Promise.all(
        made.filter(({ lost: { mark } }) => mark === lost.mark).map(({ id }) => read(id)),
      );
      const known = both.filter(({ outcome }) => outcome === 'succeeded' || outcome === 'confirmed').length;
      const open = both.filter(({ outcome }) => outcome === 'unknown').length;
      const truth = Math.min(2, carriedOut(lost));
      expect([lost.mark, known <= truth, truth <= known + open]).toEqual([lost.mark, true, true]);
    }
    expect(doubtful.length).toBeGreaterThan(15); // it examined calls
    expect([settled.confirmed > 0, settled.not_executed > 0]).toEqual([true, true]); // the counts are random
  });
});
