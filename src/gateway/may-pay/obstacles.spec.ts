import { Decimal } from 'decimal.js';
import { CallPerson } from '../../access/people/person';
import { Problem } from '../../platform/errors/problem';
import { PROBLEMS } from '../../platform/errors/problems';
import { NamedRecipient } from '../../policy/limits/beneficiaries';
import { OverCap } from '../../policy/limits/caps';
import { forecastOf, obstacleProblem, refusalOf } from './obstacle-problem';
import { AnyObstacle, BrokenRule, Reader, ROWS } from './obstacles';

const OPERATION = 'POST /payouts/airtime';
const CALL = '0193a000-0000-7000-8000-000000000001';

const cap = (of: OverCap['of'], period: OverCap['period']): OverCap => ({
  kind: 'over_cap',
  of,
  period,
  capUsd: new Decimal(50),
  leftUsd: new Decimal('1.5'),
  feeUsd: new Decimal('0.1'),
});
const recipient = (position: number): NamedRecipient => ({
  position,
  field: 'phone',
  paidBy: null,
  names: [],
  isPaid: true,
});
const stop = { id: '1', clientId: null, operation: OPERATION, reason: 'wrong rates' };

const INSTANCE: AnyObstacle[] = [
  { kind: 'fenced' },
  { kind: 'no_space', code: 'storage_full' },
  { kind: 'no_room', retryAfter: 3 },
  { kind: 'stopped', stop },
  { kind: 'circuit_open', retryAfter: 5 },
  { kind: 'recipient_not_allowed', blocked: [recipient(2)], unregistered: [recipient(0)] },
  cap('client', 'daily'),
  cap('person', 'monthly'),
  cap('ephemeral_key', 'total'),
  { kind: 'unknown_payer' },
  { kind: 'listing_unread', failure: 'timeout' },
  { kind: 'over_recipient_cap', capUsd: new Decimal(20), positions: [1] },
];
const OF_REQUESTS: AnyObstacle[] = [
  ...INSTANCE,
  { kind: 'duplicate', first: { callId: CALL, state: 'unknown', paidSecondsAgo: null, undelivered: false } },
];
const RULES: BrokenRule[] = [
  { kind: 'credential_ended' },
  { kind: 'content_lost' },
  { kind: 'scope_missing', scopes: ['pay'] },
  { kind: 'switched_off', operation: OPERATION },
  { kind: 'not_own' },
  ...(
    [
      'too_many_items',
      'country_not_allowed',
      'foreign_number',
      'amount_required',
      'cap_exceeded',
      'person_required',
    ] as const
  ).map((code): BrokenRule => ({ kind: 'over_own_limit', problem: new Problem(code) })),
  { kind: 'recipient_not_allowed', blocked: [], unregistered: [recipient(0)] },
];
const OF_HELD_CALLS: AnyObstacle[] = [
  ...INSTANCE,
  ...RULES,
  { kind: 'maybe_paid', transaction: 'T-1' },
  { kind: 'expired' },
  { kind: 'decided' },
  { kind: 'screening_denied' },
  { kind: 'screening_unavailable' },
];
type Audience = Reader | 'end_user';
const EVERY: [Audience, AnyObstacle][] = [
  ...OF_REQUESTS.flatMap((obstacle): [Audience, AnyObstacle][] => [
    ['app', obstacle],
    ['end_user', obstacle],
  ]),
  ...OF_HELD_CALLS.map((obstacle): [Audience, AnyObstacle] => ['approver', obstacle]),
  ['settler', { kind: 'fenced' }],
];
const named = ([audience, obstacle]: [Audience, AnyObstacle]) =>
  [`${obstacle.kind}${'of' in obstacle ? ` of ${obstacle.of}` : ''}`, audience, obstacle] as const;

const END_USER = { source: 'token' } as CallPerson;
const problemOf = (obstacle: AnyObstacle, audience: Audience) =>
  audience === 'end_user'
    ? refusalOf(obstacle, { operation: OPERATION, person: END_USER })
    : obstacleProblem(obstacle, audience, { operation: OPERATION });

describe('an obstacle', () => {
  it('has an example of each kind', () => {
    const kinds = [...OF_REQUESTS, ...OF_HELD_CALLS].map(({ kind }) => kind as string);
    expect(Object.keys(ROWS).filter((kind) => !kinds.includes(kind))).toEqual(['over_cap_of_app']);
  });

  it.each(EVERY.map(named))('%s, for the %s, states the event, the money and the next step', (...of) => {
    const [, audience, obstacle] = of;
    const { message, code } = problemOf(obstacle, audience);
    expect(message).toMatch(/^[A-Z].*[.a-z\d]$/);
    expect(message).not.toMatch(/undefined|\[object|null|\.\.| {2}/);
    if (code !== 'content_lost' && code !== 'already_decided')
      expect(message).toMatch(/Nothing was (sent|changed)(\.|, and)/);
    if (audience === 'approver' && message !== PROBLEMS[code].text && obstacle.kind !== 'expired')
      expect(message).toContain('the call is still pending');
  });

  it.each(EVERY.map(named))('%s, for the %s, never advises to pay again', (...of) => {
    const [, audience, obstacle] = of;
    const { message, action } = problemOf(obstacle, audience);
    // An approver or a settler has no request to send, and no key of one.
    const isStaff = audience === 'approver' || audience === 'settler';
    if (isStaff) expect(message).not.toMatch(/[Ss]end (it|the request) again(?!\.$)|Idempotency-Key/);
    if (obstacle.kind === 'duplicate' || obstacle.kind === 'maybe_paid')
      expect(action).not.toBe('retry_same_key');
    if (action === 'new_key') expect(obstacle.kind).toBe('expired');
  });

  it('has one code for apps and end users, and no_longer_allowed for forbidden held calls', () => {
    for (const obstacle of OF_REQUESTS) {
      expect(problemOf(obstacle, 'end_user').code).toBe(problemOf(obstacle, 'app').code);
    }
    const codes = OF_HELD_CALLS.map((obstacle) => `${obstacle.kind} ${problemOf(obstacle, 'approver').code}`);
    expect([...new Set(codes)]).toEqual([
      'fenced instance_fenced',
      'no_space storage_full',
      'no_room overloaded',
      'stopped stopped',
      'circuit_open upstream_unreachable',
      'recipient_not_allowed no_longer_allowed',
      'over_cap cap_exceeded',
      'unknown_payer no_longer_allowed',
      'listing_unread upstream_unreachable',
      'over_recipient_cap cap_exceeded',
      'credential_ended key_revoked',
      'content_lost content_lost',
      'scope_missing no_longer_allowed',
      'switched_off no_longer_allowed',
      'not_own no_longer_allowed',
      'over_own_limit no_longer_allowed',
      'maybe_paid suspected_duplicate',
      'expired approval_expired',
      'decided already_decided',
      'screening_denied no_longer_allowed',
      'screening_unavailable screening_unavailable',
    ]);
  });

  it("hides the app's spending from an end user, and shows the app its client's cap", () => {
    const client = cap('client', 'daily');
    expect(problemOf(client, 'end_user').message).toBe(
      'This payment would exceed a cap of the whole app. Nothing was sent. ' +
        'Try again on another day, or ask the provider of the app.',
    );
    expect(problemOf(client, 'app').message).toBe(
      "Your client's daily cap is 50 US dollars, with 1.5 US dollars left. The upstream's expected fees of " +
        '0.1 US dollars count, too. Nothing was sent. GET /v1/limits shows when the cap resets.',
    );
    expect(problemOf(cap('person', 'daily'), 'end_user').message).toContain("This person's daily cap is 50");
  });

  it.each([
    [null, null, 'all payouts and writes', 'all payouts and writes'],
    ['shop', null, 'your client', 'the client'],
    [null, OPERATION, OPERATION, OPERATION],
  ])('names the target and the reason of a stop of %s and %s', (clientId, operation, toApp, toApprover) => {
    const obstacle = {
      kind: 'stopped',
      stop: { id: '1', clientId, operation, reason: 'an incident' },
    } as const;
    expect(problemOf(obstacle, 'app').message).toBe(
      `The operator has stopped ${toApp}. Nothing was sent. Reason: an incident`,
    );
    expect(problemOf(obstacle, 'approver').message).toBe(
      `The operator has stopped ${toApprover}. Nothing was sent, and the call is still pending. ` +
        'Approve it when the stop is lifted. Reason: an incident',
    );
  });

  it('keeps the wait, the pointers and the first call of a refusal', () => {
    expect(problemOf({ kind: 'circuit_open', retryAfter: 5 }, 'approver').retryAfter).toBe(5);
    const forbidden: AnyObstacle = {
      kind: 'recipient_not_allowed',
      blocked: [recipient(2)],
      unregistered: [recipient(0)],
    };
    for (const audience of ['app', 'approver'] as const) {
      const pointers = problemOf(forbidden, audience).faults.map(({ pointer }) => pointer);
      expect(pointers).toEqual(['/airtimes/0/phoneNumber', '/airtimes/2/phoneNumber']);
    }
    expect(problemOf(OF_REQUESTS.at(-1)!, 'app')).toMatchObject({ firstCallId: CALL, action: 'wait' });
  });

  it('forecasts the code for the app, and a clause, for an approver', () => {
    for (const rule of RULES) {
      const { code, detail } = forecastOf(rule, OPERATION);
      expect(code).not.toBe('no_longer_allowed');
      expect(detail).toMatch(/^[a-zP].*[a-z]$/); // it follows "because", or names an operation
      if (problemOf(rule, 'approver').code === 'no_longer_allowed')
        expect(problemOf(rule, 'approver').message).toContain(`(${code}): ${detail}. Nothing was sent`);
    }
  });
});
