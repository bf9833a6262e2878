import { FastifyInstance, FastifyRequest } from 'fastify';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

/**
 * Lets a server close without waiting for its clients. What is whole is answered, and its connection ended with it; a
 * connection that is idle, or whose request is still coming in, ends at once: it would hold the close for a minute and more.
 */
export function endConnectionsWhenClosing(server: FastifyInstance): void {
  /** The open connections, each with the request that it carries now. */
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
    // A pipelined connection carries the next request already.
    if (connections.get(request.raw.socket) === request) connections.set(request.raw.socket, undefined);
    done();
  });
  server.addHook('preClose', (done) => {
    closing = true;
    for (const [socket, request] of connections) if (!request?.raw.complete) socket.destroy();
    done();
  });
}

/** How often it is looked for slow requests, as a part of the time that they have: one timer, not one for each. */
const LOOKS = 6;

/**
 * Ends requests that have not come in whole after their time, as Node ends those after its own: with 408. A file that a route
 * takes (`takesCsv`) has Node's time, as long as it is not answered: whoever is refused holds no place any longer than others.
 */
export function endSlowRequests(server: FastifyInstance, timeoutMs: number): void {
  /** What comes in on each connection. */
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

/** As Node itself says it to whoever hears of such errors. */
class RequestTimeout extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}
