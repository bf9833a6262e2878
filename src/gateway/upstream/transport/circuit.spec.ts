import { Answer, Exchange, notSent, toAnswer } from '../answers/answer';
import { Circuit } from './circuit';

const PAY = { effect: 'pay' } as const;
const response = (status: number, body: object | string) =>
  toAnswer(
    {
      status,
      contentType: null,
      isDecoded: true,
      retryAfter: null,
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    },
    PAY,
  );
const failed = (failure: Extract<Exchange, { failure: unknown }>['failure'], written: boolean) =>
  toAnswer({ failure, written }, PAY);
const GOOD = response(200, { status: 'success' });
const BAD = response(503, 'busy');

describe('Circuit', () => {
  let now: number;
  let changes: boolean[];
  let circuit: Circuit;
  beforeEach(() => {
    now = 1_000_000_000_000;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    changes = [];
    circuit = new Circuit((open) => changes.push(open));
  });
  afterEach(() => jest.restoreAllMocks());

  async function exchange(times: number, answer: Answer) {
    for (let i = 0; i < times; i += 1) await circuit.run({}, () => Promise.resolve(answer));
  }

  it('opens when more than half of fifty fail', async () => {
    await exchange(24, GOOD);
    await exchange(25, BAD);
    expect(circuit.refusal()).toBeUndefined();
    await exchange(1, BAD);
    expect(circuit.refusal()).toEqual(notSent('circuit_open', 5));
    expect(changes).toEqual([true]);
  });

  it('stays closed at low traffic, whatever the failures', async () => {
    for (let i = 0; i < 500; i += 1) {
      await exchange(4, BAD);
      now += 1_000;
    }
    expect(changes).toEqual([]);
  });

  it.each<[string, Answer]>([
    ['a refused connection', failed('refused', false)],
    ['an unresolved name', failed('dns', false)],
    ['a connection timeout', failed('connect_timeout', false)],
    ['a timeout', failed('timeout', true)],
    ['a reset connection', failed('reset', true)],
    ['a 500 without an envelope', response(500, 'oops')],
    ['a 502', response(502, 'oops')],
  ])('opens on %s', async (_failure, answer) => {
    await exchange(50, answer);
    expect(changes).toEqual([true]);
  });

  it.each<[string, Answer]>([
    ['a rejection', response(200, { status: 'error' })],
    ['an untrusted rejection with 500', response(500, { status: 'error' })],
    ...[400, 401, 403, 404, 408, 429].map((status): [string, Answer] => [
      `a ${status}`,
      response(status, 'no'),
    ]),
  ])('stays closed on %s', async (_answer, answer) => {
    await exchange(200, answer);
    expect(changes).toEqual([]);
  });

  it('returns the seconds until the next probe, and then lets one request through', async () => {
    await exchange(50, BAD);
    now += 3_500;
    expect(circuit.refusal()).toEqual(notSent('circuit_open', 2));
    now += 1_500;
    let probed = (_answer: Answer): void => undefined;
    const probe = circuit.run({}, () => new Promise((resolve) => (probed = resolve)));
    const sent = jest.fn(() => Promise.resolve(GOOD));
    expect(await circuit.run({}, sent)).toEqual(notSent('circuit_open', 1));
    expect(sent).not.toHaveBeenCalled();

    probed(BAD);
    expect(await probe).toBe(BAD);
    expect(circuit.refusal()).toEqual(notSent('circuit_open', 5));
    expect(changes).toEqual([true]); // still the same failure

    now += 5_000;
    expect(await circuit.run({}, sent)).toBe(GOOD);
    expect(changes).toEqual([true, false]);
    expect(await circuit.run({}, sent)).toBe(GOOD);
  });

  it('keeps one request as its next probe, until it is sent or given up', async () => {
    await exchange(50, BAD);
    const [first, second] = [{}, {}];
    expect(circuit.refusal(first)).toEqual(notSent('circuit_open', 5)); // too early to be the probe
    now += 5_000;
    expect(circuit.refusal()).toBeUndefined(); // without a request, no probe
    expect(circuit.refusal(second)).toBeUndefined();
    expect(circuit.refusal(second)).toBeUndefined();
    expect(circuit.refusal(first)).toEqual(notSent('circuit_open', 1));
    expect(circuit.refusal()).toEqual(notSent('circuit_open', 1));
    circuit.giveUp(first);
    expect(circuit.refusal(first)).toEqual(notSent('circuit_open', 1));
    circuit.giveUp(second);
    expect(await circuit.run(first, () => Promise.resolve(BAD))).toBe(BAD);
    now += 5_000;
    expect(await circuit.run(second, () => Promise.resolve(GOOD))).toBe(GOOD);
  });

  it('ignores an unsent probe', async () => {
    await exchange(50, BAD);
    now += 5_000;
    const tooLate = notSent('too_late');
    expect(await circuit.run({}, () => Promise.resolve(tooLate))).toBe(tooLate);
    expect(circuit.refusal()).toEqual(notSent('circuit_open', 5));
  });

  it('sends no probe before its time, if the clock was set back', async () => {
    await exchange(50, BAD);
    now += 5_000;
    const probe = {};
    expect(circuit.refusal(probe)).toBeUndefined();
    now -= 2_000;
    expect(await circuit.run(probe, () => Promise.resolve(GOOD))).toEqual(notSent('circuit_open', 2));
  });

  it('does not stay open when the wall clock is set back', async () => {
    await exchange(50, BAD);
    now -= 86_400_000;
    expect(await circuit.run({}, () => Promise.resolve(GOOD))).toBe(GOOD);
    expect(changes).toEqual([true, false]);
    await exchange(50, BAD);
    expect(circuit.refusal()).toEqual(notSent('circuit_open', 5));
  });
});
