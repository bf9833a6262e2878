import { setImmediate as nextTurn } from 'node:timers/promises';
import fastify, { FastifyRequest } from 'fastify';
import { FairQueue } from '../../src/http/quotas/fair-queue';
import { readJsonBodies } from '../../src/http/validation/json-body';
import { RequestValidationPipe } from '../../src/http/validation/validation.pipe';
import { AirtimePayoutDto } from '../../src/interface/payouts/payouts.dto';
import { RunningConfig, loadConfig } from '../../src/platform/config/config';
import { AIRTIME } from '../support/payments/paying';

/** Counts the turns of the event loop. Other requests wait for the work of a turn. */
function countTurns() {
  let turns = 0;
  let isOver = false;
  const tick = () => {
    turns += 1;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  return { now: () => turns, end: () => (isOver = true) };
}

describe('a long body', () => {
  const pipe = new RequestValidationPipe(loadConfig({}) as RunningConfig);
  const check = (airtimes: unknown[]) => pipe.checkBody({ airtimes }, AirtimePayoutDto);

  it('is checked in slices of a hundred items, with correct positions of faults', async () => {
    const turns = countTurns();
    const airtimes: unknown[] = Array.from({ length: 1_000 }, () => AIRTIME.airtimes[0]);
    airtimes[998] = { ...AIRTIME.airtimes[0], phoneNumber: 'wrong' };
    const { found } = await check(airtimes);
    expect(turns.now()).toBeGreaterThanOrEqual(10);
    turns.end();
    expect(found.faults).toMatchObject([{ pointer: '/airtimes/998/phoneNumber' }]);
    expect([...found.brokenItems]).toEqual([998]);
  });

  it('is checked in one slice if it has few items', () => {
    expect(check(AIRTIME.airtimes)).not.toBeInstanceOf(Promise);
  });

  it('is decoded and parsed in its own slices, even right after another one', async () => {
    const server = fastify({ bodyLimit: 1_048_576 });
    server.addHook('onRequest', (request, _reply, done) => {
      request.call = { sendBy: 0 } as FastifyRequest['call'];
      done();
    });
    const queue = new FairQueue(1);
    readJsonBodies(server, { maxBodyBytes: 1_048_576, maxItems: 1_000 }, () => queue.turn('a key'));
    server.post('/', () => 'read');
    await server.ready();
    const turns = countTurns();
    const steps: [string, number][] = [];
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
    const { decode } = TextDecoder.prototype;
    const parse = JSON.parse.bind(JSON);
    jest.spyOn(TextDecoder.prototype, 'decode').mockImplementation(function (
      this: InstanceType<typeof TextDecoder>,
      ...given
    ) {
      steps.push(['decoded', turns.now()]);
      return decode.apply(this, given);
    });
    jest.spyOn(JSON, 'parse').mockImplementation((...given) => {
      steps.push(['parsed', turns.now()]);
      return parse(...given) as unknown;
    });
    const payload = JSON.stringify({ text: 'x'.repeat(100_000) });
    const send = () =>
      server.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': 'application/json' } });
    const [first, second] = await Promise.all([send(), send(), nextTurn()]);
    jest.restoreAllMocks();
    turns.end();
    expect([first.payload, second.payload]).toEqual(['read', 'read']);
    expect(steps.map(([step]) => step)).toEqual(['decoded', 'parsed', 'decoded', 'parsed']);
    const [, parsed, decoded] = steps.map(([, turn]) => turn);
    expect(decoded! - parsed!).toBeGreaterThanOrEqual(2); // with a turn for the check of the first body
    await server.close();
  });
});
