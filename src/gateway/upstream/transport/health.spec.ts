import { notSent, toAnswer } from '../answers/answer';
import { UpstreamHealth } from './health';

const response = { contentType: null, isDecoded: true, retryAfter: null, body: Buffer.from('{}') };
const ERROR = Buffer.from('{"status":"error","error":"no"}');

const PAY = { effect: 'pay' } as const;

describe('UpstreamHealth', () => {
  let health: UpstreamHealth;
  beforeEach(() => (health = new UpstreamHealth()));

  const observed = () => {
    const { lastAnsweredAt, lastFailureAt } = health.read();
    return [lastAnsweredAt !== null, lastFailureAt !== null];
  };

  it.each([
    ['an answer', toAnswer({ ...response, status: 200 }, PAY), [true, false]],
    ['a rejection', toAnswer({ ...response, status: 400 }, PAY), [true, false]],
    ['a 500 in its envelope', toAnswer({ ...response, status: 500, body: ERROR }, PAY), [true, false]],
    ['a 503', toAnswer({ ...response, status: 503 }, PAY), [false, true]],
    ['a timeout', toAnswer({ failure: 'timeout', written: true }, PAY), [false, true]],
    ['no connection', toAnswer({ failure: 'refused', written: false }, PAY), [false, true]],
    ['a request sent too late', notSent('too_late'), [false, false]],
    ['a request held by an open circuit', notSent('circuit_open'), [false, false]],
  ])('reflects %s', (_answer, answer, expected) => {
    health.record(answer);
    expect(observed()).toEqual(expected);
  });

  it('names open circuits', () => {
    for (const name of ['POST /send', 'GET /info']) health.setCircuitOpen(name, true);
    expect(health.read().openCircuits).toEqual(['GET /info', 'POST /send']);
    health.setCircuitOpen('POST /send', false);
    expect(health.read().openCircuits).toEqual(['GET /info']);
  });
});
