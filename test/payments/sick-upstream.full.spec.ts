import canonicalize from 'canonicalize';
import type { Answer } from '../support/http/request';
import supertest from '../support/http/supertest';
import { answer, Behaviour, hang, reset, succeed } from '../support/network/fake-upstream';
import { AIRTIME, eventually, PaymentScene, phoneOf, phones, startPaying } from '../support/payments/paying';

/** One operation of each effect, with its request. */
const EFFECTS = {
  pay: (paying: PaymentScene) => paying.pay(),
  write: ({ proxy, app }: PaymentScene) =>
    proxy.post(app, '/account/delete-unpaid-transaction', { chiRef: 'ref-1' }),
  read: ({ proxy, app }: PaymentScene) => proxy.get(app, '/api/v0.1/wallets/list'),
};
type Effect = keyof typeof EFFECTS;

const MOST = 3;

/** Each failure, the number of attempts of a read, and the phase that each attempt reaches. */
const FAILURES: [string, Behaviour, number, string][] = [
  ['a connection that is torn down', reset, MOST, 'waiting'],
  [
    'an answer that breaks off',
    (_request, response) => void response.writeHead(200).write('{', () => response.destroy()),
    MOST,
    'answering',
  ],
  ['an answer without JSON', answer(200, '<html>'), MOST, 'answered'],
  ['a 502', answer(502, 'bad gateway'), MOST, 'answered'],
  ['a 503', answer(503, 'busy'), MOST, 'answered'],
  ['a 504', answer(504, 'too slow'), MOST, 'answered'],
  ['another 5xx', answer(520, 'unknown'), 1, 'answered'],
  ['a redirect', answer(302, 'elsewhere'), 1, 'answered'],
  ['a time-out', hang, 1, 'waiting'],
  ['a 408', answer(408, 'too slow'), 1, 'answered'],
  ['an error in its envelope', answer(200, { status: 'error', error: 'no' }), 1, 'answered'],
  ['an error in its envelope and a 500', answer(500, { status: 'error', error: 'no' }), 1, 'answered'],
  ['a 400', answer(400, { status: 'error', error: 'no' }), 1, 'answered'],
  ['a 401', answer(401, { status: 'error', error: 'no' }), 1, 'answered'],
  ['a 403', answer(403, { status: 'error', error: 'no' }), 1, 'answered'],
  ['a 429', answer(429, 'too many'), 1, 'answered'],
];

/** Attempts recorded with an outcome. */
const ATTEMPTS = `SELECT kind, record::json ->> 'failure' AS failure,
  (record::json ->> 'attempts')::integer AS attempts,
  record::json -> 'tries' AS tries FROM outcome`;

describe('a failed request', () => {
  let paying: PaymentScene;
  beforeAll(async () => {
    const upstreamTimeouts = new Map([
      ['POST /payouts/airtime', 800],
      ['POST /account/delete-unpaid-transaction', 800],
    ]);
    paying = await startPaying({ upstreamTimeoutMs: 4_000, upstreamTimeouts });
  });
  afterAll(() => paying.close());
  beforeEach(() => (paying.upstream.received.length = 0));

  const cases = FAILURES.flatMap(([failure, behaviour, reads, phase]) =>
    (Object.keys(EFFECTS) as Effect[]).map((effect) => ({
      failure,
      behaviour,
      effect,
      phase,
      times: effect === 'read' ? reads : 1,
    })),
  );
  it.each(cases)('is sent $times× to $effect after $failure', async ({ behaviour, effect, times, phase }) => {
    paying.upstream.behaviour = behaviour;
    const got = await EFFECTS[effect](paying);
    expect(paying.upstream.received).toHaveLength(times);
    const [outcome] = await attempts(got);
    expect(outcome?.attempts).toBe(times);
    expect(outcome?.tries.map((one) => one.phase)).toEqual(Array(times).fill(phase));
  });

  it('returns the answer of the second attempt', async () => {
    paying.upstream.behaviour = (...args) => {
      paying.upstream.behaviour = succeed;
      void reset(...args);
    };
    const got = await EFFECTS.read(paying).expect(200);
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const { upstream } = await paying.record(got);
    expect(upstream).toMatchObject({ attempts: 2, status: 200 });
    expect(upstream!.tries).toEqual([
      { failure: 'reset', ms: expect.any(Number), phase: 'waiting', started_at: instant, status: null },
      { failure: null, ms: expect.any(Number), phase: 'answered', started_at: instant, status: 200 },
    ]);
    const [kept] = await paying.proxy.database.query<{ tries: string }>(
      "SELECT record::json ->> 'tries' AS tries FROM outcome WHERE intent_id = $1",
      [got.headers['x-call-id']],
    );
    expect(kept?.tries).toBe(canonicalize(JSON.parse(kept?.tries ?? ''))); // the seal covers the stored text
  });

  const attempts = ({ headers }: Answer) =>
    paying.proxy.database.query<{ attempts: number; tries: { phase: string }[] }>(
      `${ATTEMPTS} WHERE intent_id = $1`,
      [headers['x-call-id']],
    );
});

describe('an unreachable upstream', () => {
  let paying: PaymentScene;
  /** A read whose first attempt was sent and whose later ones were not. */
  let last: Answer;
  beforeAll(async () => {
    paying = await startPaying();
    let gone: Promise<void> | undefined;
    paying.upstream.behaviour = (_request, _response, socket) => {
      socket.resetAndDestroy();
      gone = paying.upstream.stop();
    };
    last = await EFFECTS.read(paying);
    await gone;
  });
  afterAll(() => paying.proxy.close());

  const outcomesOf = ({ headers }: Answer) =>
    paying.proxy.database.query(`${ATTEMPTS} WHERE intent_id = $1`, [headers['x-call-id']]);

  it('leaves a request unknown once it was sent', async () => {
    expect(last).toMatchObject({ status: 502, body: { code: 'outcome_unknown' } });
    expect(await outcomesOf(last)).toMatchObject([{ kind: 'unknown', failure: 'reset', attempts: MOST }]);
  });

  it.each<[Effect, number]>([
    ['pay', 1],
    ['write', 1],
    ['read', MOST],
  ])('is asked to %s %i×, and the app learns that nothing was sent', async (effect, times) => {
    const got = await EFFECTS[effect](paying).expect(503, /upstream_unreachable/);
    expect(await outcomesOf(got)).toMatchObject([
      {
        kind: 'not_sent',
        attempts: times,
        tries: Array(times).fill({ phase: 'connecting', failure: 'refused' }),
      },
    ]);
  });
});

describe('an overloaded upstream', () => {
  let paying: PaymentScene;
  beforeAll(async () => {
    const upstreamTimeouts = new Map([['POST /account/transfer', 200]]);
    paying = await startPaying({ upstreamConnections: 2, upstreamQueue: 3, upstreamTimeouts });
  });
  afterAll(() => paying.close());
  beforeEach(() => (paying.upstream.received.length = 0));

  /** Holds arriving requests until they are released. */
  function hold(): (() => unknown)[] {
    const held: (() => unknown)[] = [];
    paying.upstream.behaviour = (...args) => held.push(() => succeed(...args));
    return held;
  }

  it('gets as many requests as it has connections, some wait, and the rest leave no trace', async () => {
    const held = hold();
    const answered: Awaited<ReturnType<PaymentScene['pay']>>[] = [];
    const all = phones(20).map(async (phone) => answered.push(await paying.pay(phone)));
    await eventually(() => answered.length >= 15 && held.length === 2);
    paying.upstream.behaviour = succeed;
    for (const release of held) release();
    await Promise.all(all);

    const paid = answered.filter(({ status }) => status === 200);
    expect(paid.length).toBeGreaterThan(1);
    expect(paying.upstream.received).toHaveLength(paid.length); // refused requests never arrived
    const shed = answered.filter((one) => !paid.includes(one));
    expect(shed.length).toBeGreaterThanOrEqual(15);
    for (const { status, headers, body } of shed) {
      expect([status, body.code, body.action]).toEqual([503, 'overloaded', 'retry_same_key']);
      expect(headers['retry-after']).toMatch(/^[123]$/);
    }
    const ids = shed.map(({ headers }) => headers['x-call-id']);
    expect(await paying.proxy.database.query('SELECT FROM intent WHERE id = ANY ($1)', [ids])).toEqual([]);
    // The first refusal of a client is recorded. Others within the minute are counted.
    await eventually(async () => {
      const refusals = await paying.proxy.database.query('SELECT code FROM refusal WHERE id = ANY ($1)', [
        ids,
      ]);
      return refusals.length === 1;
    });
    const { text } = await supertest(paying.proxy.url).get('/metrics').expect(200);
    expect(text).toContain(
      `payout_proxy_shed_requests_total{operation="POST /payouts/airtime"} ${shed.length}`,
    );
    expect(text).toContain('payout_proxy_waiting_requests{account="main"} 0');
    expect(text).toContain('payout_proxy_places_in_use{account="main"} 0');
  });

  it('answers a waiting payment before reads', async () => {
    const held = hold();
    const readings = [0, 1, 2].map(() => EFFECTS.read(paying));
    const reads = readings.map((one) => one.then(({ status }) => status));
    await eventually(() => held.length === 1); // half of the slots
    const paid = paying.pay().then(({ status }) => status);
    await eventually(() => held.length === 2);
    expect(phoneOf(paying.upstream.received[1]!)).toBe(AIRTIME.airtimes[0]!.phoneNumber);
    paying.upstream.behaviour = succeed;
    for (const release of held) release();
    expect(await paid).toBe(200);
    await Promise.all(reads);
  });
});
