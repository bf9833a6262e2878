import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACTION_NAMES } from './kinds';
import { MAX_FAULTS, Problem } from './problem';
import { toEnvelope, toProblemDetails } from './problem-body';
import { ProblemCode, PROBLEMS } from './problems';

const CODES = Object.keys(PROBLEMS) as ProblemCode[];
/** Codes of operations that read. */
const OF_READS: ProblemCode[] = [
  ...(['invalid_request', 'missing_key', 'invalid_key', 'scope_missing', 'operation_not_allowed'] as const),
  ...([
    'rate_limited',
    'too_many_attempts',
    'internal_error',
    'database_unavailable',
    'stopped',
    'not_found',
  ] as const),
  ...(['several_credentials', 'invalid_token', 'token_expired', 'use_dpop', 'provider_unavailable'] as const),
  'invalid_dpop_proof',
  ...(['storage_full', 'storage_failing', 'database_read_only', 'database_busy'] as const),
  ...(['upstream_auth', 'upstream_busy', 'overloaded', 'upstream_unreachable', 'outcome_unknown'] as const),
];
const faults = [{ pointer: '/airtimes/0', detail: 'must be an object' }];

describe('a problem', () => {
  it.each(CODES)('has an error status and a text of sentences: %s', (code) => {
    const { status, message } = new Problem(code);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(message).toMatch(/^[A-Z](?!.*\.\.).*\.$/);
  });

  // A code in two groups would silently have the status of the later group.
  it('has one status and one action', () => {
    const files = readdirSync(__dirname).filter((name) => !name.endsWith('.spec.ts'));
    const groups = files.flatMap((name) =>
      [
        ...readFileSync(join(__dirname, name), 'utf8').matchAll(
          /\.\.\.(?:kinds|repeatable)\(.*?\n {2}\}\)/gs,
        ),
      ].map(String),
    );
    const codes = groups.flatMap((group) => [...group.matchAll(/^ {4}(\w+):/gm)].map(([, code]) => code));
    expect(codes.sort()).toEqual([...CODES].sort());
  });

  it('has a Retry-After only if sending again is safe', () => {
    const inviting = CODES.filter((code) => new Problem(code).retryAfter !== undefined);
    expect(inviting).toEqual([
      'provider_unavailable',
      'rate_limited',
      'too_many_attempts',
      'too_many_at_once',
      'too_many_faults',
      'readers_busy',
      'too_many_runs',
      'upstream_busy',
      'overloaded',
      'no_worker',
      'database_unavailable',
      'storage_full',
      'storage_failing',
      'database_read_only',
      'database_busy',
      'upstream_unreachable',
      'account_not_configured',
      'too_late',
      'instance_fenced',
      'screening_unavailable',
      'not_sealed',
      'request_in_progress',
      'run_in_progress',
      'run_not_ended',
    ]);
    expect(PROBLEMS.outcome_unknown.text).toContain('Do not send it again');
  });

  it('can have a more specific text', () => {
    const cause = new Error('why');
    const problem = new Problem('outcome_unknown', {
      status: 504,
      text: 'Late.',
      retryAfter: 7,
      faults,
      cause,
    });
    expect(problem).toMatchObject({ status: 504, message: 'Late.', retryAfter: 7, faults, cause });
  });

  it.each(CODES)('names one action: %s', (code) => {
    expect(ACTION_NAMES).toContain(new Problem(code).action);
  });

  it('can override the action', () => {
    expect(new Problem('suspected_duplicate', { action: 'wait' }).action).toBe('wait');
  });

  it.each(CODES)('invites to send again only if its action does: %s', (code) => {
    const { action, retryAfter } = new Problem(code);
    if (retryAfter !== undefined) expect(['retry_same_key', 'wait']).toContain(action);
  });

  it.each(OF_READS)('mentions neither sending again nor keys to a read: %s', (code) => {
    const { status } = new Problem(code);
    const read = new Problem(code, { faults }).asRead();
    expect(read.message).not.toMatch(/send (it|this|the)|\bsent\b|Idempotency-Key/i);
    expect(read.action).not.toBe('new_key');
    expect([read.status, read.faults]).toEqual([status, faults]);
  });

  it('keeps a more specific text for a read', () => {
    const exact = new Problem('database_unavailable', { text: 'The index is being built.' });
    expect(exact.asRead()).toBe(exact);
  });

  it("is written in the interface's envelope", () => {
    expect(toEnvelope(new Problem('invalid_request', { text: 'No.', faults }), 'id')).toEqual({
      status: 'error',
      error: 'No. airtimes/0: must be an object.',
      code: 'invalid_request',
      action: 'fix_request',
      call_id: 'id',
      errors: faults,
      errors_total: 1,
    });
    expect(toEnvelope(new Problem('not_found'), 'id')).not.toHaveProperty('errors');
  });

  it('is written as RFC 9457 problem details elsewhere', () => {
    expect(toProblemDetails(new Problem('scope_missing', { text: 'No.' }), 'id')).toEqual({
      type: 'about:blank',
      title: 'scope missing',
      status: 403,
      detail: 'No.',
      error: 'No.',
      code: 'scope_missing',
      action: 'ask',
      call_id: 'id',
    });
  });

  it('names the first fault in its text, and the number of the others', () => {
    const textWith = (...given: typeof faults) =>
      toEnvelope(new Problem('not_served', { text: 'No.', faults: given }), 'id');
    const whole = { pointer: '', detail: 'the body must be valid JSON' };
    expect(textWith(whole).error).toBe('No. The body must be valid JSON.');
    expect(textWith(...faults, whole, whole).error).toBe('No. airtimes/0: must be an object (and 2 more).');
    expect(toProblemDetails(new Problem('not_served', { text: 'No.', faults }), 'id')).toMatchObject({
      detail: 'No.',
      error: 'No. airtimes/0: must be an object.',
    });
  });

  it('lists at most 100 faults, with their total', () => {
    const many = Array.from({ length: 250 }, (_, place) => ({
      pointer: `/airtimes/${place}`,
      detail: 'is wrong',
    }));
    const told = toEnvelope(new Problem('invalid_request', { text: 'No.', faults: many }), 'id');
    expect(told.errors).toEqual(many.slice(0, MAX_FAULTS));
    expect(told).toMatchObject({ errors_total: 250, error: 'No. airtimes/0: is wrong (and 249 more).' });
    const counted = new Problem('invalid_request', { faults: many.slice(0, 3), faultsTotal: 70_000 });
    expect(toEnvelope(counted, 'id')).toMatchObject({ errors_total: 70_000, errors: { length: 3 } });
  });

  it('never shows its cause', () => {
    const problem = new Problem('internal_error', { cause: new Error('ada@example.com') });
    expect(JSON.stringify([toEnvelope(problem, 'id'), toProblemDetails(problem, 'id')])).not.toContain('ada');
  });
});
