import { notSent, toAnswer } from '../answers/answer';
import { UpstreamHealth } from './health';

const response = { contentType: null, isDecoded: true, retryAfter: null, body: Buffer.from('{}') };
const ERROR = Buffer.from('{"status":"error","error":"no"}');

const PAY = { effect: 'pay' } as const;

describe('the health of the upstream', () => {
  let health: UpstreamHealth;
  beforeEach(() => (health = new UpstreamHealth()));

  const seen = () => {
    const { lastAnsweredAt, lastFailureAt } = health.read();
    return [lastAnsweredAt !== null, lastFailureAt !== null];
  };

  it.each([
    ['an answer', toAnswer({ ...response, status: 200 }, PAY), [true, false]],
    ['a rejection', toAnswer({ ...response, status: 400 }, PAY), [true, false]],
    ['a 500 in its envelope', toAnswer({ ...response, status: 500, body: ERROR }, PAY), [true, false]],
    ['a 503', toAnswer({ ...response, status: 503 }, PAY), [false, true]],
    ['a time-out', toAnswer({ failure: 'timeout', written: true }, PAY), [false, true]],
    ['no connection', toAnswer({ failure: 'refused', written: false }, PAY), [false, true]],
    ['what was too late to be sent', notSent('too_late'), [false, false]],
    ['what an open circuit keeps back', notSent('circuit_open'), [false, false]],
  ])('changes by %s', (_what, answer, expected) => {
    health.record(answer);
    expect(seen()).toEqual(expected);
  });

  it('names open circuits', () => {
    for (const name of ['POST /send', 'GET /info']) health.setCircuitOpen(name, true);
    expect(health.read().openCircuits).toEqual(['GET /info', 'POST /send']);
    health.setCircuitOpen('POST /send', false);
    expect(health.read().openCircuits).toEqual(['GET /info']);
  });
});
