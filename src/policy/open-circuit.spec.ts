import {
  budget,
  OFF,
  payment,
  request,
  state,
  stop,
  usd,
} from '../../test/support/payments/admission-requests';
import { decide, dryRun } from './decide';

describe('an open circuit', () => {
  it('refuses only calls that would be sent now', () => {
    const open = { sendableInSeconds: 5 };
    const at = state({ guards: OFF, claims: new Map([['again', { callId: 'first', sameContent: true }]]) });
    expect(
      decide(
        [
          request('new', { ...open, idempotencyKey: 'k', content: 'same' }),
          request('twin', { ...open, idempotencyKey: 'k', content: 'same' }),
          request('again', { ...open, idempotencyKey: 'known' }),
          request('held', { ...open, heldFor: 'over_threshold' }),
          request('probe', { idempotencyKey: 'k', content: 'same' }),
        ],
        at,
      ),
    ).toEqual([
      { kind: 'circuit_open', retryAfter: 5 },
      { kind: 'circuit_open', retryAfter: 5 },
      { kind: 'repeated', firstCallId: 'first' },
      { kind: 'held', heldFor: 'over_threshold' },
      { kind: 'admitted' },
    ]);
    const over = state({ stops: [stop()], budgets: new Map([['shop', budget({ dailyCapUsd: usd('0') })]]) });
    expect(dryRun(request('new', open), over).obstacles.map(({ kind }) => kind)).toEqual([
      'stopped',
      'over_cap',
      'circuit_open',
    ]);
  });

  it('ignores a refused request when it checks other clients', () => {
    const same = { items: [payment('ada@example.com', '1')] };
    const refused = request('a', { ...same, sendableInSeconds: 5 });
    const rulings = decide([refused, request('b', { ...same, clientId: 'till' })], state());
    expect(rulings.map(({ kind }) => kind)).toEqual(['circuit_open', 'admitted']);
  });
});
