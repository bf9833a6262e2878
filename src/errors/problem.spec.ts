import { Problem } from './problem';
import { ProblemCode, PROBLEMS } from './problems';
import { toEnvelope, toProblemDetails } from './problem-body';

const CODES = Object.keys(PROBLEMS) as ProblemCode[];
const faults = [{ pointer: '/airtimes/0', detail: 'must be an object' }];

describe('problems', () => {
  it.each(CODES)('%s has a status for errors and a text that says what to do', (code) => {
    const { status, message } = new Problem(code);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(message).toMatch(/^[A-Z].*\.$/);
  });

  it('only what is safe to send again says when: it only read, nothing was paid, or it has its key', () => {
    const inviting = CODES.filter((code) => new Problem(code).retryAfter !== undefined);
    expect(inviting).toEqual([
      'not_sealed',
      'request_in_progress',
      'run_in_progress',
      'run_not_ended',
      'rate_limited',
      'too_many_attempts',
      'too_many_streams',
      'too_many_exports',
      'too_many_runs',
      'database_unavailable',
      'upstream_busy',
      'upstream_overloaded',
      'upstream_unreachable',
    ]);
    expect(PROBLEMS.outcome_unknown.text).toContain('Do not send it again');
  });

  it('a thrower may say it more exactly', () => {
    const cause = new Error('why');
    const problem = new Problem('outcome_unknown', { status: 504, text: 'Late.', retryAfter: 7, faults, cause });
    expect(problem).toMatchObject({ status: 504, message: 'Late.', retryAfter: 7, faults, cause });
  });

  it("is told in the interface's envelope", () => {
    expect(toEnvelope(new Problem('invalid_request', { text: 'No.', faults }), 'id')).toEqual({
      ...{ status: 'error', error: 'No.', code: 'invalid_request', call_id: 'id', errors: faults },
    });
    expect(toEnvelope(new Problem('not_found'), 'id')).not.toHaveProperty('errors');
  });

  it('is told as RFC 9457 problem details elsewhere', () => {
    expect(toProblemDetails(new Problem('scope_missing', { text: 'No.' }), 'id')).toEqual({
      ...{
        type: 'about:blank',
        title: 'scope missing',
        status: 403,
        detail: 'No.',
        code: 'scope_missing',
        call_id: 'id',
      },
    });
  });

  it('never tells its cause', () => {
    const problem = new Problem('internal_error', { cause: new Error('ada@example.com') });
    expect(JSON.stringify([toEnvelope(problem, 'id'), toProblemDetails(problem, 'id')])).not.toContain('ada');
  });
});
