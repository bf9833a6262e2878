import { isIP } from 'node:net';
import { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isOperation } from '../../operations/catalogue/catalogue';
import { clock } from '../../platform/database/clock';
import { newId } from '../../platform/database/ids';
import { databaseUnavailable, Problem } from '../../platform/errors/problem';
import { rememberTrace } from '../../platform/logging/trace-ids';
import { looksLikePhone } from '../../platform/privacy/phone-numbers';
import { PersonsService } from '../people/persons.service';
import { authenticate, isAdmitted, onBehalfOf, sourceProblem, CallerServices } from './authenticate';
import { AuthenticatedCall, Call, remainingMs } from './call';
import { KeyGuessing } from './key-guessing';
import { answerBrowsers, foreignOrigin, OriginsService, OwnOriginOf } from './origins';
import { limitRate, RequestWindowsService } from './rate-limit';

/** IDs that are safe in headers and log lines. Excludes `+` and `@`, which mark phone numbers and emails. */
export const REQUEST_ID = /^[\w.:=/-]{1,128}$/;
/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

interface ReceiveOptions extends Omit<CallerServices, 'guessing'> {
  /** Calls back when it is the turn of a new request to begin. */
  takeTurn: (begin: () => void) => void;
  origins: OriginsService;
  persons: PersonsService;
  windows: RequestWindowsService;
  ownOriginOf: OwnOriginOf;
  /** Maximum wait before a request is sent, in ms. */
  deadlineMs: number;
  /** Throws a Problem if too many requests wait for the operation to be admitted. */
  requireRoom: (call: Call) => void;
}

/**
 * Begins and ends every request. Before the body is read, it assigns the IDs, identifies the caller and
 * checks the address. At the end, it sets the common response headers.
 */
export async function receiveCalls(
  server: FastifyInstance,
  { takeTurn, origins, persons, windows, ownOriginOf, deadlineMs, requireRoom, ...lookUps }: ReceiveOptions,
): Promise<void> {
  const services: CallerServices = { ...lookUps, guessing: new KeyGuessing() };
  server.decorateRequest('call');

  server.addHook('onRequest', (request, reply, done) => {
    const ownOrigin = ownOriginOf(request);
    begin(request, reply, { ownOrigin: ownOrigin ?? '', deadlineMs });
    done(headProblem(request) ?? (ownOrigin === undefined ? new Problem('misdirected_request') : undefined));
  });
  server.addHook('onRequest', ({ call }, _reply, done) => {
    takeTurn(() => {
      const waitedMs = performance.now() - call.startedAt; // others had their turns
      call.sendBy += waitedMs;
      if (isOperation(call.operation)) call.timings.queue = waitedMs;
      done();
    });
  });
  await answerBrowsers(server, origins);
  refuseOtherMethods(server);
  server.addHook('onRequest', async (request, reply) => {
    if (!needsKey(request)) return;
    const { call } = request;
    const caller = await authenticate(request, services);
    call.caller = caller;
    requireRoom(call);
    // Rate limiting precedes the next checks, because their rejections are recorded.
    const count = (id: string) =>
      windows.count(id, isAdmitted(request), remainingMs(call)).catch(databaseUnavailable);
    const { requestsPerMinute } = caller.limits;
    if (requestsPerMinute !== null)
      limitRate('requests', requestsPerMinute, await count(caller.clientId), reply);
    const person = await onBehalfOf(call as AuthenticatedCall, persons, isAdmitted(request));
    call.person = person;
    const ownRate = person?.limits.personRequestsPerMinute ?? null;
    if (person && ownRate !== null) limitRate('person', ownRate, await count(person.id), reply);
    const problem = sourceProblem(call, caller);
    if (problem) throw problem;
    checkMasking(request);
  });

  server.addHook('onSend', (request, reply, _payload, done) => {
    finish(request, reply);
    done();
  });
}

/** Path of the CORS plugin's preflight route. */
const ANY_PATH = '*';

/** Answers 405 with Allow to a method that a path lacks (RFC 9110, section 15.5.6), even without a key. */
function refuseOtherMethods(server: FastifyInstance): void {
  const routes: { path: RegExp; methods: string[] }[] = [];
  server.addHook('onRoute', ({ url, method }) => {
    if (url === ANY_PATH) return;
    const pattern = url
      .replace(/[.+?()[\]{}|^$]/g, '\\$&')
      .replace(/:[^/]+/g, '[^/]+')
      .replace('*', '.*');
    routes.push({ path: new RegExp(`^${pattern}$`), methods: [method].flat() });
  });
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 && request.routeOptions.url !== ANY_PATH) return done();
    const [path = ''] = request.url.split('?', 1);
    const found = routes.filter((route) => route.path.test(decodeURI(path)));
    if (found.length === 0) return done();
    void reply.header('allow', [...new Set(found.flatMap(({ methods }) => methods))].join(', '));
    done(request.is404 ? new Problem('method_not_allowed') : undefined); // a refused preflight gets 404
  });
}

/** Above the longest path segment of any route. */
export const MAX_SEGMENT_LENGTH = 1_024;

/**
 * Returns the URL for the router. A URL that the router cannot read would bypass all hooks and filters, so it
 * is replaced by a missing route in the same part of the proxy.
 */
export function readableUrl({ url = '/' }: { url?: string | undefined }): string {
  if (url.length <= MAX_SEGMENT_LENGTH && !url.includes('%')) return url;
  const [path = ''] = url.split('?', 1);
  const isReadable =
    isDecodable(path) && path.split('/').every((segment) => segment.length <= MAX_SEGMENT_LENGTH);
  return isReadable ? url : `${/^\/(api|v1)(?=\/)/.exec(path)?.[0] ?? ''}/unreadable`;
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

/** Returns our error for a request that Node would reject without an explanation. */
function headProblem({ raw, headers }: FastifyRequest): Problem | undefined {
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect))
    return new Problem('expectation_not_met');
  if (raw.httpVersion !== '1.1' || headers.host !== undefined) return undefined;
  const detail = 'the request must have the header Host, which HTTP/1.1 requires (RFC 9112, section 3.2)';
  return new Problem('invalid_request', { faults: [{ pointer: '', detail }] });
}

/** Inputs of a new call, other than its request. */
interface NewCallOptions {
  /** Empty for a request to a foreign host, which is refused. */
  ownOrigin: string;
  deadlineMs: number;
}

function begin(request: FastifyRequest, reply: FastifyReply, options: NewCallOptions): void {
  request.call = newCall(request, options);
  void reply.header('x-request-id', request.call.requestId).header('x-call-id', request.call.id);
}

/** Policy of responses that are not pages: a browser runs and loads nothing, and no page frames them. */
const NO_PAGE = "default-src 'none'; frame-ancestors 'none'";

function finish({ call }: FastifyRequest, reply: FastifyReply): void {
  void reply.header('server-timing', serverTiming(call));
  void reply.header('x-content-type-options', 'nosniff');
  if (!reply.hasHeader('content-security-policy')) void reply.header('content-security-policy', NO_PAGE);
  // Files of the console are immutable.
  if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
}

function newCall(request: FastifyRequest, { ownOrigin, deadlineMs }: NewCallOptions): Call {
  const { url, config } = request.routeOptions;
  const route = `${request.method} ${url ?? '(no route)'}`;
  const operation = config.isPreview ? undefined : config.operation;
  const requestId = String(request.headers['x-request-id'] ?? '');
  const traceparent = traceOf(request);
  const id = newId();
  if (traceparent !== undefined) rememberTrace(id, traceparent);
  return {
    id,
    requestId: REQUEST_ID.test(requestId) && !looksLikePhone(requestId) ? requestId : id,
    traceparent,
    clientAddress: addressOf(request),
    ownOrigin,
    origin: foreignOrigin(request, ownOrigin),
    idempotencyKey: request.headers['idempotency-key'] as string | undefined,
    allowDuplicateOf: request.headers['allow-duplicate-of'] as string | undefined,
    prefer: request.headers.prefer as string | undefined,
    claimedActor: String(request.headers['x-actor'] ?? '') || undefined,
    person: null,
    masked: request.headers['x-people'] !== undefined, // Other values are rejected.
    operation: operation ?? route,
    receivedAt: clock.now(),
    startedAt: performance.now(),
    sendBy: performance.now() + deadlineMs,
    bodyBeganAt: performance.now(),
    caller: undefined,
    connection: request.raw.socket,
    sessionToken: undefined,
    opened: false,
    outcome: undefined,
    timings: {},
    feeRule: null,
  };
}

/** Returns the caller's trace context. An invalid one is dropped. */
function traceOf({ headers }: FastifyRequest): string | undefined {
  const traceparent = String(headers.traceparent ?? '');
  return TRACEPARENT.test(traceparent) ? traceparent : undefined;
}

/** Returns the client address from a trusted reverse proxy. Ignores "unknown" and ports. */
function addressOf({ ip, socket }: FastifyRequest): string {
  return isIP(ip) > 0 ? ip : (socket.remoteAddress ?? '');
}

/** Returns whether a URL belongs to the interface or `/v1`, in any spelling, with or without a route. */
function needsKey({ routeOptions, url, headers }: FastifyRequest): boolean {
  const path = routeOptions.url ?? url;
  const { 'x-api-key': key, authorization, cookie } = headers;
  if (routeOptions.config.needsNoKey && (key ?? authorization ?? cookie) === undefined) return false;
  return path.startsWith('/api/') || path.startsWith('/v1/');
}

/** Rejects unknown values of X-People, so a typo never unmasks people. The interface ignores the header. */
function checkMasking({ routeOptions, url, headers }: FastifyRequest): void {
  const people = headers['x-people'];
  const isOurs = (routeOptions.url ?? url).startsWith('/v1/');
  if (isOurs && people !== undefined && people !== 'masked') throw new Problem('invalid_people');
}

function serverTiming({ startedAt, timings }: Call): string {
  const steps = (['queue', 'journal', 'upstream'] as const).map((step) => entry(step, timings[step]));
  return `${steps.join('')}total;dur=${(performance.now() - startedAt).toFixed(2)}`;
}

function entry(name: string, ms: number | undefined): string {
  return ms === undefined ? '' : `${name};dur=${ms.toFixed(2)}, `;
}
