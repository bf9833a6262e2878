import { ArgumentsHost, Catch, ExceptionFilter, HttpException, Inject, Logger } from '@nestjs/common';
import { FastifyReply, FastifyRequest } from 'fastify';
import { Call, remainingMs } from '../../access/auth/call';
import { tokenIn } from '../../access/tokens/access-token';
import { challengeOf } from '../../access/tokens/refusals';
import { CallerDisconnected } from '../../http/connections/caller-disconnected';
import { MetricsService } from '../../http/metrics/metrics.service';
import { forTheRecord } from '../../http/validation/faults';
import { recordedKey } from '../../http/validation/idempotency-key';
import { bodyFault, OTHER_TYPE } from '../../http/validation/json-body';
import { CallJournal } from '../../journal/call-journal';
import { rowOf } from '../../operations/catalogue/catalogue';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { causeOf, isUnavailable } from '../../platform/database/pools/unavailable';
import { DATABASE_CODES, DatabaseCode } from '../../platform/errors/outages';
import { Problem } from '../../platform/errors/problem';
import { toEnvelope, toProblemDetails } from '../../platform/errors/problem-body';
import { ProblemCode, PROBLEMS } from '../../platform/errors/problems';
import { happenedOf } from '../../platform/errors/reads';
import { isProbe } from '../../platform/logging/logging';
import { problemCodeOf } from '../../platform/storage/failures';
import { StorageService, StorageFailure } from '../../platform/storage/storage.service';

/** Problems that need an operator if an unexpected error caused them. */
const OUR_FAULTS: readonly ProblemCode[] = ['internal_error', ...DATABASE_CODES, 'outcome_unknown'];

/** Turns errors into responses, and records the rejected requests of known callers. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('Problem');

  constructor(
    private readonly journal: CallJournal,
    private readonly metrics: MetricsService,
    private readonly storage: StorageService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async catch(error: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { call } = request;
    if (error instanceof CallerDisconnected) return; // without a receiver
    const problem = adaptedTo(request, this.withCause(this.toProblem(error, request, reply)));
    this.log(call, problem);
    this.metrics.problems.inc({ code: problem.code });
    await this.record(call, problem);
    if (problem.retryAfter !== undefined) void reply.header('retry-after', problem.retryAfter);
    const challenge =
      problem.challenge ?? challengeOf(problem, tokenIn(request.headers.authorization) !== undefined);
    if (challenge !== undefined) void reply.header('www-authenticate', challenge);
    const [type, body] = isInterface(request)
      ? ['application/json', toEnvelope(problem, call.id)]
      : ['application/problem+json', toProblemDetails(problem, call.id)];
    await reply
      .status(problem.status)
      .header('content-type', `${type}; charset=utf-8`)
      .send(JSON.stringify(body));
  }

  /**
   * Logs the problem. Only our own failures are errors: stops and upstream failures are expected. Of equal
   * refusals in a row, only the first is logged. StorageService logs once why the database takes no writes.
   */
  private log({ id, operation }: Call, { status, code, cause, recorded }: Problem): void {
    if (status < 500 || isProbe(operation) || !recorded || (isOfDatabase(code) && this.databaseFailure))
      return;
    const line = { call_id: id, code };
    if (cause === undefined || !OUR_FAULTS.includes(code)) this.logger.warn(line, 'request not carried out');
    else this.logger.error({ ...line, err: cause }, 'request failed');
  }

  /** Adds the cause of a database failure, from the error itself or from other observers. */
  private withCause(problem: Problem): Problem {
    const { code, cause } = problem;
    if (code !== 'database_unavailable' || cause === undefined) return problem;
    const own = causeOf(cause) ?? 'unreachable';
    const known = own === 'unreachable' ? (this.databaseFailure?.cause ?? own) : own;
    return problem.as(problemCodeOf({ place: 'database', cause: known }));
  }

  private get databaseFailure(): StorageFailure | undefined {
    return this.storage.failures.find(({ place }) => place === 'database');
  }

  private toProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): Problem {
    const { call, raw } = request;
    if (error instanceof Problem) return error;
    // The request may have been sent once its intent is recorded. The response must not deny it.
    if (call.opened) return new Problem('outcome_unknown', { cause: error });
    // Precedes `isUnavailable`, because this ECONNRESET does not come from the database.
    if (raw.readableAborted) return call.connectionError ?? bodyFault('ended before it was complete');
    if (isUnavailable(error)) return new Problem('database_unavailable', { cause: error });
    // Fastify's rejections arrive as Nest exceptions with only a status.
    const status = error instanceof HttpException ? error.getStatus() : 500;
    if (status >= 500) return new Problem('internal_error', { cause: error });
    switch (status) {
      case 404:
        return new Problem(reply.hasHeader('allow') ? 'method_not_allowed' : 'not_found');
      case 413:
        return bodyFault(`must be at most ${this.settings.maxBodyBytes} bytes`);
      case 415:
        return bodyFault(OTHER_TYPE);
      default:
        return bodyFault('cannot be read. Check that its length matches Content-Length');
    }
  }

  /**
   * Records the problem as a refusal. A call with a recorded intent has an outcome or is in doubt instead.
   */
  private async record(call: Call, problem: Problem): Promise<void> {
    const { caller, opened } = call;
    if (!caller || opened || !problem.recorded) return;
    const { status, code, message: detail, faults, faultsTotal, firstCallId = null } = problem;
    const refusal = {
      ...call,
      caller,
      status,
      code,
      detail,
      faultsTotal,
      firstCallId,
      idempotencyKey: code === 'invalid_idempotency_key' ? null : recordedKey(call.idempotencyKey),
      faults: forTheRecord(faults, this.settings.extraFieldsAllowed),
    };
    if (await this.journal.refusals.recordSoon(refusal, remainingMs(call))) call.outcome = 'refused';
  }
}

function isOfDatabase(code: ProblemCode): code is DatabaseCode {
  return (DATABASE_CODES as readonly string[]).includes(code);
}

/** Adapts texts about payouts for reads and for changes outside the interface. */
function adaptedTo(request: FastifyRequest, problem: Problem): Problem {
  if (isRead(request)) return problem.asRead();
  const { code, message, cause } = problem;
  if (isInterface(request) || !isOfDatabase(code) || message !== PROBLEMS[code].text) return problem;
  const text =
    `${happenedOf(code)} Nothing was sent to the payout service. ` +
    'Check whether the change was made before you try again.';
  return new Problem(code, { text, action: 'wait', cause });
}

/** Returns whether the request reads or previews. */
function isRead({ method, routeOptions }: FastifyRequest): boolean {
  const { operation, isPreview = false } = routeOptions.config;
  if (operation === undefined) return method === 'GET' || method === 'HEAD';
  return isPreview || rowOf(operation).effect === 'read';
}

/** Compares the route's own path, because the URL may have escapes. */
function isInterface(request: FastifyRequest): boolean {
  return (request.routeOptions.url ?? request.url).startsWith('/api/');
}
