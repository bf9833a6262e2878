import { FastifyInstance, FastifyRequest } from 'fastify';
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
