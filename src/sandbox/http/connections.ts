import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Tracks open connections. At a stop, requests in flight are answered, and their connections end with the
 * answer. Connections that are idle, still sending their request, or held open without an answer end at once,
 * because they would delay the stop.
 */
export class Connections {
  /** Each with its current request. */
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
        // Its head may have been sent earlier with a promise to keep the connection.
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

  /** Leaves a connection open and silent until its client or the sandbox ends it. */
  hold(socket: Socket): void {
    if (this.closing) socket.destroy();
    else if (this.open.has(socket)) this.open.set(socket, undefined);
  }
}
