import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../http/envelope';
import { Rule } from '../http/rules';

/** An invalid control request, with all its faults. */
export class ControlRequestError extends Error {
  constructor(
    readonly faults: string[],
    readonly httpStatus: 400 | 404 = 400,
  ) {
    super(faults.join('; '));
  }
}

/** Returns the result of `read`, or throws a {@link ControlRequestError} with all its faults. */
export function readOrRefuse<T>(read: (faults: string[]) => T | undefined): T {
  const faults: string[] = [];
  const value = read(faults);
  if (value === undefined || faults.length > 0) throw new ControlRequestError(faults);
  return value;
}

/** Reads a whole number from a query or a path. Undefined if it is missing. */
export function readNumber(text: unknown, name: string, rule: Rule, faults: string[]): number | undefined {
  if (text === undefined) return undefined;
  const value = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : NaN;
  if (!rule.holds(value)) faults.push(`${name} must be ${rule.must}`);
  return value;
}

/** Answers `{error, faults}`: one sentence, and the list of faults. */
export function answerControlError(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (error instanceof Refusal) error = new ControlRequestError([error.message]);
  if (error instanceof ControlRequestError) {
    void reply.status(error.httpStatus).send({ error: error.message, faults: error.faults });
    return;
  }
  const status = 'statusCode' in error ? (error.statusCode ?? 503) : 503;
  if (status < 500) {
    void reply.status(status).send({ error: error.message, faults: [error.message] });
    return;
  }
  process.stderr.write(
    `sandbox: ${request.method} ${request.routeOptions.url ?? ''} failed: ${error.name}\n`,
  );
  void reply.status(503).send({ error: 'the sandbox is unavailable; send the request again', faults: [] });
}
