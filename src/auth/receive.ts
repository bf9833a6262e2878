import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { Problem, toProblemDetails } from '../errors/problem';
import { Call } from './call';
import { CallersService } from './callers.service';

/** Ids that may stand in a header and a log line as they are: no `+` and no `@`, as phones and e-mails have. */
export const REQUEST_ID = /^[\w.:=/-]{1,128}$/;
/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Begins every request: gives it its ids and finds out who calls, before a byte of its body is read; and ends it with the
 * headers that every answer carries.
 */
export function receiveCalls(server: FastifyInstance, callers: CallersService): void {
  server.decorateRequest('call');

  server.addHook('onRequest', async (request, reply) => {
    begin(request, reply);
    const key = request.headers['x-api-key'];
    if (!needsKey(request)) return;
    const { caller, person } = await authenticate(key, callers);
    request.call.caller = caller;
    request.call.actor = person ?? request.call.actor; // whose key it is, is not for the caller to say
  });

  server.addHook('onSend', (request, reply, _payload, done) => {
    finish(request, reply);
    done();
  });
}

/** Answers an address that cannot be decoded: it leads to no route, so no hook and no filter sees it. */
export function answerUnroutable(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  begin(request, reply);
  finish(request, reply);
  const problem = new Problem('not_found');
  void reply
    .status(problem.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(toProblemDetails(problem, request.call.id)));
}

function begin(request: FastifyRequest, reply: FastifyReply): void {
  request.call = newCall(request);
  void reply.header('x-request-id', request.call.requestId).header('x-call-id', request.call.id);
}

function finish({ call }: FastifyRequest, reply: FastifyReply): void {
  void reply.header('server-timing', serverTiming(call));
  void reply.header('x-content-type-options', 'nosniff').header('cache-control', 'no-store');
}

function newCall(request: FastifyRequest): Call {
  const requestId = String(request.headers['x-request-id'] ?? '');
  const traceparent = String(request.headers.traceparent ?? '');
  const actor = String(request.headers['x-actor'] ?? '');
  return {
    id: uuidv7(),
    requestId: REQUEST_ID.test(requestId) ? requestId : uuidv7(),
    traceparent: TRACEPARENT.test(traceparent) ? traceparent : undefined,
    clientAddress: request.ip,
    idempotencyKey: request.headers['idempotency-key'] as string | undefined,
    actor: REQUEST_ID.test(actor) ? actor : null,
    operation: request.routeOptions.config.operation ?? `${request.method} ${request.routeOptions.url ?? '(no route)'}`,
    receivedAt: new Date(),
    startedAt: performance.now(),
    caller: undefined,
    opened: false,
    outcome: undefined,
    timings: {},
  };
}

/** The interface and the `/v1` resources, however the address spells them, and whatever does not exist below them. */
function needsKey({ routeOptions, url }: FastifyRequest): boolean {
  const path = routeOptions.url ?? url;
  return path.startsWith('/api/') || path.startsWith('/v1/');
}

async function authenticate(key: string | string[] | undefined, callers: CallersService) {
  if (key === undefined || key === '') throw new Problem('missing_key');
  const caller = await callers.identify(String(key)).catch((cause: unknown) => {
    throw new Problem('database_unavailable', { cause });
  });
  if (!caller) throw new Problem('invalid_key');
  return caller;
}

function serverTiming({ startedAt, timings }: Call): string {
  const total = performance.now() - startedAt;
  return Object.entries({ ...timings, total })
    .map(([name, ms]) => `${name};dur=${ms.toFixed(2)}`)
    .join(', ');
}
