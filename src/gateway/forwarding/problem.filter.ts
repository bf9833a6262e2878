import { ArgumentsHost, Catch, ExceptionFilter, HttpException, Inject, Logger } from '@nestjs/common';
import { FastifyReply, FastifyRequest } from 'fastify';
import { Call, leftOf } from '../../access/auth/call';
import { tokenIn } from '../../access/tokens/access-token';
import { challengeOf } from '../../access/tokens/refusals';
import { causeOf, isUnavailable } from '../../platform/database/pools/unavailable';
import { isProbe } from '../../platform/logging/logging';
import { problemCodeOf } from '../../platform/storage/failures';
import { StorageService, Trouble } from '../../platform/storage/storage.service';
import { happenedOf } from '../../platform/errors/reads';
import { DATABASE_CODES, DatabaseCode } from '../../platform/errors/outages';
import { Problem } from '../../platform/errors/problem';
import { ProblemCode, PROBLEMS } from '../../platform/errors/problems';
import { toEnvelope, toProblemDetails } from '../../platform/errors/problem-body';
import { CallJournal } from '../../journal/call-journal';
import { CallerGone } from '../../http/connections/gone';
import { MetricsService } from '../../http/metrics/metrics.service';
import { forTheRecord } from '../../http/validation/faults';
import { bodyFault, OTHER_TYPE } from '../../http/validation/json-body';
import { recordedKey } from '../../http/validation/idempotency-key';
import { rowOf } from '../../operations/catalogue/catalogue';
import { RunningConfig, SETTINGS } from '../../platform/config/config';

/** The problems that somebody must look into if an unexpected error caused them. */
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
    if (error instanceof CallerGone) return; // nobody receives an answer
    const problem = inWordsFor(request, this.withCause(this.toProblem(error, request, reply)));
    this.log(call, problem);
    this.metrics.problems.inc({ code: problem.code });
    await this.record(call, problem);
    if (problem.retryAfter !== undefined) void reply.header('retry-after', problem.retryAfter);
    const challenge = problem.challenge ?? challengeOf(problem, tokenIn(request.headers.authorization) !== undefined);
    if (challenge !== undefined) void reply.header('www-authenticate', challenge);
    const [type, body] = isInterface(request)
      ? ['application/json', toEnvelope(problem, call.id)]
      : ['application/problem+json', toProblemDetails(problem, call.id)];
    await reply.status(problem.status).header('content-type', `${type}; charset=utf-8`).send(JSON.stringify(body));
  }

  /**
   * Logs the problem. Only our own failures are errors. Stops and failures of the upstream are expected to happen. Of the
   * same refusals in a row, the first is logged. Why the database takes no writes is logged once, too (StorageService).
   */
  private log({ id, operation }: Call, { status, code, cause, recorded }: Problem): void {
    if (status < 500 || isProbe(operation) || !recorded || (isOfDatabase(code) && this.troubleOfDatabase)) return;
    const line = { call_id: id, code };
    if (cause === undefined || !OUR_FAULTS.includes(code)) this.logger.warn(line, 'request not carried out');
    else this.logger.error({ ...line, err: cause }, 'request failed');
  }

  /** Says why the database fails, if that is known: from the error itself, or from what others have seen. */
  private withCause(problem: Problem): Problem {
    const { code, cause } = problem;
    if (code !== 'database_unavailable' || cause === undefined) return problem;
    const own = causeOf(cause) ?? 'unreachable';
    const known = own === 'unreachable' ? (this.troubleOfDatabase?.cause ?? own) : own;
    return problem.as(problemCodeOf({ place: 'database', cause: known }));
  }

  private get troubleOfDatabase(): Trouble | undefined {
    return this.storage.troubles.find(({ place }) => place === 'database');
  }

  private toProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): Problem {
    const { call, raw } = request;
    if (error instanceof Problem) return error;
    // Once its intent is recorded, the request may have been sent. The response must not say that it was not.
    if (call.opened) return new Problem('outcome_unknown', { cause: error });
    // Checked first, because its ECONNRESET does not come from the database.
    if (raw.readableAborted) return call.cutShort ?? bodyFault('ended before it was complete');
    if (isUnavailable(error)) return new Problem('database_unavailable', { cause: error });
    // Fastify's rejections arrive as Nest's, with only their status.
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
   * Records the problem. Once its intent is recorded, a call has an outcome or is in doubt. Before that, it is a
   * refusal.
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
    if (await this.journal.refusals.recordSoon(refusal, leftOf(call))) call.outcome = 'refused';
  }
}

function isOfDatabase(code: ProblemCode): code is DatabaseCode {
  return (DATABASE_CODES as readonly string[]).includes(code);
}

/** Adapts texts about payouts for reads and for changes outside the interface. */
function inWordsFor(request: FastifyRequest, problem: Problem): Problem {
  if (isRead(request)) return problem.asRead();
  const { code, message, cause } = problem;
  if (isInterface(request) || !isOfDatabase(code) || message !== PROBLEMS[code].text) return problem;
  const text = `${happenedOf(code)} Nothing was sent to the payout service. Check whether the change was made before you try again.`;
  return new Problem(code, { text, action: 'wait', cause });
}

/** Whether the request is a preview, which changes nothing either. */
function isRead({ method, routeOptions }: FastifyRequest): boolean {
  const { operation, isPreview = false } = routeOptions.config;
  if (operation === undefined) return method === 'GET' || method === 'HEAD';
  return isPreview || rowOf(operation).effect === 'read';
}

/** Compares the route's own path, because the URL may be written with escapes. */
function isInterface(request: FastifyRequest): boolean {
  return (request.routeOptions.url ?? request.url).startsWith('/api/');
}
