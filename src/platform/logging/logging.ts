import { Logger, LogLevel } from '@nestjs/common';
import { FastifyInstance } from 'fastify';
import { Params, PinoLogger, Logger as PinoNestLogger } from 'nestjs-pino';
import pino from 'pino';
import { codeOf } from '../errors/error-code';
import { LogOutput } from './log-output';
import { withTraceId } from './trace-ids';

let output: LogOutput | undefined;

/** Returns the output that all applications of a process share. */
function standardOutput(): LogOutput {
  return (output ??= new LogOutput());
}

/** Waits until the log is written. The process may end then. */
export async function endLog(): Promise<void> {
  await output?.end();
}

/** The processes of the product that write logs. */
export type LoggingProcess = 'proxy' | 'worker';

/**
 * Configures structured logs with the named fields only. Addresses, headers, bodies, and error messages may
 * contain people or secrets, so they are never logged.
 */
export function loggingOptions(level: string, writer: LoggingProcess): Params {
  return {
    forRoutes: [], // nothing per request from pino-http: logRequests writes a safe line
    pinoHttp: {
      level,
      base: { process: writer },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }), log: withTraceId },
      serializers: { err: describeError },
      hooks: { logMethod },
      stream: standardOutput(),
    },
  };
}

/** Writes all lines of this process in this form, also before there is an application. */
export function beginLog(level: string, writer: LoggingProcess): void {
  const options = loggingOptions(level, writer);
  Logger.overrideLogger(new ProcessLogger(new PinoLogger(options), options));
}

/** Obeys the levels of NestFactory for the assembly of an application, which nestjs-pino ignores. */
class ProcessLogger extends PinoNestLogger {
  private levels: LogLevel[] = ['log'];

  setLogLevels(levels: LogLevel[]): void {
    this.levels = levels;
  }

  override log(...line: Parameters<PinoNestLogger['log']>): void {
    if (this.levels.includes('log')) super.log(...line);
  }
}

/** Adds a text to a line about an error without one, because pino would log the message of the error. */
function logMethod(this: pino.Logger, args: Parameters<pino.LogFn>, log: pino.LogFn): void {
  const [first, ...words] = args as unknown[];
  const error = first instanceof Error ? first : (first as { err?: unknown } | null | undefined)?.err;
  if (error === undefined || words[0] !== undefined) log.apply(this, args);
  else log.call(this, first instanceof Error ? { err: first } : first, 'an error');
}

/** A line of a stack trace: the name of a function, if any, and a position in a file. */
const FRAME = /^\s+at (?:[\w$.<>[\] ]+ \()?(?:node:|file:|\/|[A-Za-z]:\\)\S*:\d+:\d+\)?$/;

/** Frequent requests of machines, which are not logged. */
const PROBES: readonly string[] = ['GET /livez', 'GET /readyz', 'GET /metrics'];

/** Returns whether a request is a probe, by its operation. Probes are not logged. */
export function isProbe(operation: string): boolean {
  return PROBES.includes(operation);
}

/** Writes one line per answered request. */
export function logRequests(server: FastifyInstance, logger: PinoNestLogger): void {
  server.addHook('onResponse', ({ call }, reply, done) => {
    if (isProbe(call.operation)) return done();
    logger.log({
      call_id: call.id,
      request_id: call.requestId,
      client: call.caller?.clientName,
      account: call.caller?.account,
      key_id: call.caller?.keyId,
      operation: call.operation,
      status: reply.statusCode,
      outcome: call.outcome,
      duration_ms: Math.round(reply.elapsedTime * 100) / 100,
    });
    done();
  });
}

/** Returns the class, the code and the origin of an error for logs. Its message may quote a value. */
export function describeError(error: unknown): { type: string; code?: string; at?: string[] } {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = codeOf(error);
  // The message comes before the frames, and its own lines may look like frames.
  const frames = (error.stack ?? '').replace(error.message, () => '').split('\n');
  return {
    type: error.constructor.name,
    ...(code && /^\w{1,64}$/.test(code) && { code }),
    at: frames
      .filter((line) => FRAME.test(line))
      .slice(0, 8)
      .map((frame) => frame.trim()),
  };
}
