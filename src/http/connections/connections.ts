import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Lets a server close without waiting for its clients. Answers complete requests, and ends their connections
 * with the answer. Ends idle connections and those with incomplete requests at once, because they would delay
 * the close by a minute and more.
 */
export function endConnectionsWhenClosing(server: FastifyInstance): void {
  /** The open connections, each with its current request. */
  const connections = new Map<Socket, FastifyRequest | undefined>();
  let closing = false;

  server.server.on('connection', (socket: Socket) => {
    connections.set(socket, undefined);
    socket.once('close', () => connections.delete(socket));
  });
  server.addHook('onRequest', (request, _reply, done) => {
    connections.set(request.raw.socket, request);
    done();
  });
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) void reply.header('connection', 'close');
    done();
  });
  server.addHook('onResponse', (request, _reply, done) => {
    // A pipelined connection may already have the next request.
    if (connections.get(request.raw.socket) === request) connections.set(request.raw.socket, undefined);
    done();
  });
  server.addHook('preClose', (done) => {
    closing = true;
    for (const [socket, request] of connections) if (!request?.raw.complete) socket.destroy();
    done();
  });
}

/** Checks for slow requests per time limit. One timer serves all requests. */
const LOOKS = 6;

/**
 * Ends requests that are not complete in time, with 408 as Node does. A file upload (`takesCsv`) has Node's
 * longer time until it is answered.
 */
export function endSlowRequests(server: FastifyInstance, timeoutMs: number): void {
  /** The incomplete request of each connection. */
  const coming = new Map<Socket, { raw: IncomingMessage; since: number; isFile: boolean }>();

  server.server.on('connection', (socket: Socket) => socket.once('close', () => coming.delete(socket)));
  server.addHook('onRequest', ({ raw, routeOptions }, _reply, done) => {
    const isFile = routeOptions.config.takesCsv === true;
    if (!raw.complete) coming.set(raw.socket, { raw, since: performance.now(), isFile });
    done();
  });
  server.addHook('onResponse', ({ raw }, _reply, done) => {
    const known = coming.get(raw.socket);
    if (known?.raw === raw) known.isFile = false;
    done();
  });
  const timer = setInterval(() => {
    const before = performance.now() - timeoutMs;
    for (const [socket, { raw, since, isFile }] of coming) {
      if (raw.complete) coming.delete(socket);
      else if (!isFile && since < before) server.server.emit('clientError', new RequestTimeout(), socket);
    }
  }, timeoutMs / LOOKS).unref();
  server.addHook('onClose', (_server, done) => {
    clearInterval(timer);
    done();
  });
}

/** The equivalent of Node's own error. */
class RequestTimeout extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}
