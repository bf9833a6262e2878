import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Tracks open connections. At a stop, connections with a request in flight end with its answer. All others
 * (idle, still sending their request, or held open by a fault) end at once.
 */
export class Connections {
  /** Open connections with their current request. */
  private readonly open = new Map<Socket, FastifyRequest | undefined>();
  private closing = false;

  watch(server: FastifyInstance): void {
    server.server.on('connection', (socket: Socket) => {
      this.open.set(socket, undefined);
      socket.once('close', () => this.open.delete(socket));
    });
    server.addHook('onRequest', (request, _reply, done) => {
      this.open.set(request.raw.socket, request);
      done();
    });
    server.addHook('onSend', (_request, reply, _payload, done) => {
      if (this.closing) void reply.header('Connection', 'close');
      done();
    });
    server.addHook('onResponse', (request, _reply, done) => {
      const { socket } = request.raw;
      // A pipelined connection already has its next request.
      if (this.open.get(socket) === request) {
        this.open.set(socket, undefined);
        // The head of this answer may have promised keep-alive before the stop.
        if (this.closing) socket.end();
      }
      done();
    });
    server.addHook('preClose', (done) => {
      this.closing = true;
      for (const [socket, request] of this.open) if (!request?.raw.complete) socket.destroy();
      done();
    });
  }

  /** Leaves a connection open and silent until the client or the sandbox ends it. */
  hold(socket: Socket): void {
    if (this.closing) socket.destroy();
    else if (this.open.has(socket)) this.open.set(socket, undefined);
  }
}
