import supertest from 'supertest';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProxyWithSandbox } from './support/proxy';

const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const SUB_ACCOUNT = '00000000-0000-4000-8000-000000000002';
const QUIET_SECONDS = 1;

/** What the sandbox does to a tenth of all requests each, and how it answers. */
const FAULTS = [
  { fault: 'noResponse' },
  { fault: 'noResponse', processed: false },
  { fault: 'resetAfterProcessing' },
  { fault: 'resetBeforeProcessing' },
  { fault: 'lateProcessing', ms: 300 },
  { fault: 'error502Html' },
  { fault: 'error502Html', processed: false },
  { fault: 'truncatedBody' },
  { fault: 'malformedJson', processed: false },
  { fault: 'redirect' },
  { fault: 'duplicateTransaction' },
];

interface Asked {
  path: string;
  body: object;
  /** That it, and no other, has in its body. */
  mark: string;
  /** Its content is asked for twice. */
  twin: boolean;
}

/** What became of calls whose answers were lost is found out from what the upstream lists, or it is said why not. */
describe('the resolver, with an upstream that loses answers', () => {
  let proxy: Awaited<ReturnType<typeof startProxyWithSandbox>>;
  let app: string;
  let reconciler: string;
  let count = 0;

  beforeAll(async () => {
    proxy = await startProxyWithSandbox({ upstreamTimeoutMs: 250, resolverQuietSeconds: QUIET_SECONDS });
    app = (await proxy.client('app', 'pay', 'write', 'read')).key;
    reconciler = (await proxy.client('reconciler', 'reconcile')).key;
  });
  afterAll(() => proxy.close());

  const control = (method: 'get' | 'post' | 'delete', path: string, body?: object) =>
    supertest(proxy.sandbox.url)[method](`/_sandbox${path}`).set(CONTROL).send(body);
  const send = ({ path, body }: Asked) => proxy.post(app, path, body);
  const round = async () => {
    const answer = await supertest(proxy.url).post('/v1/reconciliation/resolver/rounds').set('X-API-Key', reconciler);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const read = async (id: string) => (await proxy.get(app, `/v1/calls/${id}`).expect(200)).body;

  /** A request that no other one resembles, of one or some items. */
  function request(kind: number, items = 1 + (kind % 3), reversed = false): Asked {
    count += 1;
    const number = count;
    const mark = `mark-${number}`;
    const amount = 0.01 + number / 10_000;
    const phone = (place: number) =>
      reversed ? `+2547${String(10 + (number % 90))}99990101`.slice(0, 13) : `+2547${String(number * 10 + place).padStart(8, '0')}`;
    const list = Array.from({ length: items }, (_, place) => place);
    const email = (place: number) => `${mark}.${place}@example.com`;
    const requests: [string, object][] = [
      ['/payouts/airtime', { airtimes: list.map((place) => ({ countryToSend: 'Kenya', phoneNumber: phone(place), valueInUSD: amount, reference: mark })) }],
      ['/payouts/mobile-money', { momos: list.map((place) => ({ countryToSend: 'Kenya', phoneNumber: phone(place), momoCode: 'MPS', valueInUSD: amount, reference: mark })) }],
      ['/payouts/credit', { credits: list.map((place) => ({ email: email(place), valueInUSD: amount })) }],
      ['/payouts/initiate-credit', { credits: list.map((place) => ({ email: email(place), valueInUSD: amount })) }],
      ['/send', { credit: list.map((place) => ({ email: email(place), valueInUSD: amount })) }],
      ['/account/transfer', { receiver: SUB_ACCOUNT, amount, wallet: 'chi' }],
      ['/collections/mobile-money/collect', { amount: 100 + number, currency: 'KES', phone_number: phone(0), fullname: 'Ada Obi', country: 'Kenya', email: email(0), tx_ref: mark }],
    ];
    const [path, body] = requests[kind % requests.length] as [string, object];
    return { path, body, mark: path === '/account/transfer' ? `"amount":${amount}` : mark, twin: false };
  }

  it('works', async () => {
    for (let kind = 0; kind < 7; kind += 1) {
      const a = await send(request(kind));
      console.log(a.status, JSON.stringify(a.body).slice(0, 200));
    }
    const r = await control('post', '/faults', { fault: 'resetAfterProcessing' });
    console.log(r.status);
    const ids: string[] = [];
    for (let kind = 0; kind < 7; kind += 1) ids.push((await send(request(kind))).headers['x-call-id'] ?? '');
    await control('delete', '/faults');
    await control('post', '/faults', { fault: 'resetBeforeProcessing' });
    for (let kind = 0; kind < 7; kind += 1) ids.push((await send(request(kind))).headers['x-call-id'] ?? '');
    await control('delete', '/faults');
    console.log(JSON.stringify(await round(), null, 1));
    await sleep(QUIET_SECONDS * 1_000 + 500);
    console.log(JSON.stringify(await round(), null, 1));
    await send(request(0));
    console.log(JSON.stringify(await round(), null, 1));
    for (const id of ids) { const c = await read(id); console.log(c.operation, c.outcome); }
  });
});
