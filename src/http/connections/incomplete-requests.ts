import { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { FastifyInstance } from 'fastify';
import { networkOf } from '../../access/auth/key-guessing';
import { eventsThatArrived } from './handovers';

/** Maximum number of connections with an incomplete request. */
interface Bounds {
  perNetwork: number;
  inAll: number;
}

/**
 * Above the connections that an app opens at once, such as for a burst of 1,000 payments. A flood of this
 * size does not exhaust the memory: a connection takes about 20 kB.
 */
const BOUNDS: Bounds = { perNetwork: 2_048, inAll: 8_192 };

/** Minimum interval between log lines of a flood, in ms. */
const LOGGED_EVERY_MS = 60_000;

/**
 * Ends the oldest connections that wait for a request, if there are too many of one network or in all. A
 * connection waits until its first head is complete, and again if its request is answered before its body is
 * complete. Connections that are idle between two requests do not count, so an app may keep any number of
 * them.
 * @param isTrusted whether an address is a reverse proxy's, whose connections are those of many apps.
 */
export function boundIncompleteRequests(
  server: FastifyInstance,
  isTrusted: (address: string) => boolean,
  { perNetwork, inAll }: Bounds = BOUNDS,
): void {
  const logger = new Logger('Connections');
  /** Oldest first, with the network of each. */
  const waiting = new Map<Socket, string | undefined>();
  /** The same by network, without trusted ones. */
  const networks = new Map<string, Set<Socket>>();
  let loggedAt = -Infinity;

  const remove = (socket: Socket) => {
    const network = waiting.get(socket);
    waiting.delete(socket);
    if (network === undefined) return;
    networks.get(network)?.delete(socket);
    if (networks.get(network)?.size === 0) networks.delete(network);
  };
  const end = (oldest: Iterable<Socket>, surplus: number) => {
    for (const socket of [...oldest].slice(0, surplus)) {
      remove(socket);
      socket.destroy();
    }
    if (performance.now() - loggedAt < LOGGED_EVERY_MS) return;
    loggedAt = performance.now();
    logger.warn(
      { connections: surplus },
      'too many requests are not complete, the oldest connections were closed',
    );
  };
  const check = (network: string | undefined) => {
    const own = networks.get(network ?? '');
    if (own && own.size > perNetwork) end(own, own.size - perNetwork);
    if (waiting.size > inAll) end(waiting.keys(), waiting.size - inAll);
  };
  const add = (socket: Socket) => {
    const { remoteAddress: address = '' } = socket;
    const network = isTrusted(address) ? undefined : networkOf(address);
    waiting.set(socket, network);
    if (network !== undefined) networks.set(network, (networks.get(network) ?? new Set()).add(socket));
    const isFull = waiting.size > inAll || (networks.get(network ?? '')?.size ?? 0) > perNetwork;
    // The heads of connections that were opened during a long turn have arrived, but are not read yet.
    if (isFull) void eventsThatArrived().then(() => check(network));
  };

  server.server.on('connection', (socket: Socket) => {
    add(socket);
    socket.once('close', () => remove(socket));
  });
  server.addHook('onRequest', ({ raw }, _reply, done) => {
    remove(raw.socket);
    done();
  });
  server.addHook('onResponse', ({ raw }, _reply, done) => {
    if (!raw.complete && !raw.socket.destroyed) add(raw.socket);
    done();
  });
}
