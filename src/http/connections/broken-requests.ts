import { STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { Logger } from 'nestjs-pino';
import { newId } from '../../platform/database/ids';
import { Problem } from '../../platform/errors/problem';
import { toEnvelope, toProblemDetails } from '../../platform/errors/problem-body';
import { bodyFault } from '../validation/json-body';

/** Time that a client has to read its answer while it still sends. */
const LINGER_MS = 1_000;

interface RequestObservers {
  logger: Pick<Logger, 'log'>;
  countProblem: (code: string) => void;
}

/** The state of a connection: its requests, and the answers that are due. */
interface Traffic {
  coming: FastifyRequest | undefined;
  unanswered: Set<FastifyRequest>;
  /** The error to answer once the earlier requests are answered. */
  broken: Problem | undefined;
}

/**
 * Answers bytes that are not a valid request like any other request: with IDs, in the format of the route,
 * logged and counted. Node and Fastify would answer in their own format.
 */
export function answerBrokenRequests(server: FastifyInstance, observers: RequestObservers): void {
  const connections = new WeakMap<Socket, Traffic>();
  server.addHook('onRequest', (request, _reply, done) => {
    const { raw } = request;
    const traffic = connections.get(raw.socket) ?? {
      coming: undefined,
      unanswered: new Set(),
      broken: undefined,
    };
    traffic.coming = request;
    traffic.unanswered.add(request);
    connections.set(raw.socket, traffic);
    done();
  });
  server.addHook('onResponse', (request, _reply, done) => {
    const { socket } = request.raw;
    const traffic = connections.get(socket);
    traffic?.unanswered.delete(request);
    if (traffic?.broken && traffic.unanswered.size === 0) socket.destroySoon();
    done();
  });
  server.addHook('preParsing', ({ call, raw }, _reply, payload, done) => {
    // The request broke off while its key was looked up. Its body would never arrive.
    if (call.connectionError || raw.readableAborted) done(call.connectionError ?? endedEarly());
    else done(null, payload);
  });
  server.server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket) => {
    const traffic = connections.get(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    if (traffic?.broken) return; // answered, or about to be
    const problem = problemOf(error);
    const isComing = traffic?.coming?.raw.complete === false ? traffic.coming : undefined;
    connections.set(socket, {
      coming: isComing,
      unanswered: traffic?.unanswered ?? new Set(),
      broken: problem,
    });
    const before = (traffic?.unanswered.size ?? 0) - (isComing && traffic?.unanswered.has(isComing) ? 1 : 0);
    // The answer must not overtake an earlier one, because the client would assign it to that request.
    if (before > 0) return void report(observers, newId(), problem);
    if (isComing) return cutShort(isComing, problem, socket, traffic?.unanswered.has(isComing) === true);
    const id = newId();
    report(observers, id, problem);
    end(socket, problem, id, newId(), isInterface(error.rawPacket));
  });
  server.server.on('connect', ({ url }: { url?: string }, socket: Socket) => {
    const [id, problem] = [newId(), new Problem('not_found')];
    report(observers, id, problem);
    end(socket, problem, id, newId(), url?.startsWith('/api/') === true);
  });
  // Node would answer with a bare status. The request itself is rejected like any other
  // (src/access/auth/receive.ts).
  server.server.on(
    'checkExpectation',
    (request, response) => void server.server.emit('request', request, response),
  );
}

/** Rejects the request of a broken connection. It is recorded once the connection has ended. */
function cutShort(request: FastifyRequest, problem: Problem, socket: Socket, isUnanswered: boolean): void {
  if (!isUnanswered) return void socket.destroySoon(); // answered before it was complete
  request.call.connectionError = problem;
  const { id, requestId } = request.call;
  const path = request.routeOptions.url ?? request.url;
  end(socket, problem, id, requestId, path.startsWith('/api/'));
}

const endedEarly = () => bodyFault('ended before it was complete');

function problemOf({ code }: NodeJS.ErrnoException): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request_timeout');
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('headers_too_large');
  if (code === 'HPE_INVALID_EOF_STATE') return endedEarly();
  const detail =
    'the request is not valid HTTP/1.1. Check its request line, its headers, and the length of its body';
  return new Problem('invalid_request', { faults: [{ pointer: '', detail }] });
}

/** Returns whether rejected bytes begin with a request line of the interface. */
function isInterface(packet: Buffer | undefined): boolean {
  return packet !== undefined && /^[A-Z]{3,10} \/api\//.test(packet.subarray(0, 20).toString('latin1'));
}

function report({ logger, countProblem }: RequestObservers, id: string, { code, status }: Problem): void {
  countProblem(code);
  logger.log({ call_id: id, code, status }, 'request not readable');
}

function end(
  socket: Socket,
  problem: Problem,
  callId: string,
  requestId: string,
  isInterface: boolean,
): void {
  const [type, content] = isInterface
    ? ['application/json', toEnvelope(problem, callId)]
    : ['application/problem+json', toProblemDetails(problem, callId)];
  const body = Buffer.from(JSON.stringify(content));
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    `content-type: ${type}; charset=utf-8`,
    `content-length: ${body.length}`,
    `date: ${new Date().toUTCString()}`,
    `x-request-id: ${requestId}`,
    `x-call-id: ${callId}`,
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    ...(problem.retryAfter === undefined ? [] : [`retry-after: ${problem.retryAfter}`]),
    'connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
