import { Socket } from 'node:net';
import { FastifyInstance } from 'fastify';
import { Call } from '../../access/auth/call';

/** Time after its last byte in which a broken connection means that the reply was lost. */
const BREAKS_WITHIN_MS = 5_000;

/** A reply in delivery to its caller. */
interface Handover {
  call: Call;
  tellOfLoss: () => void;
  /** When the last byte was given to the operating system. Monotonic. Undefined before. */
  finishedAt: number | undefined;
}

/** The replies of each open connection. */
const handovers = new WeakMap<object, Handover[]>();

/**
 * Watches the reply to a call. It is lost if the connection closes before its last byte was handed to the
 * operating system, or breaks soon after, before the next request. A client that closes its connection while
 * the reply is on its way looks like one that has read it.
 * @param tellOfLoss is called once, if the reply is lost.
 */
export function watchHandover(call: Call, tellOfLoss: () => void): void {
  if (call.connection) handovers.get(call.connection)?.push({ call, tellOfLoss, finishedAt: undefined });
}

let arrivals: Promise<void> | undefined;

/** Resolves once everything that has arrived on connections so far was read, such as their end. */
export function eventsThatArrived(): Promise<void> {
  // Calls whose outcomes shared a commit also share the wait.
  arrivals ??= new Promise((resolve) => {
    setImmediate(() => {
      arrivals = undefined;
      // The turn that ends may have asked the operating system for events before. The next one asks again.
      setImmediate(resolve);
    });
  });
  return arrivals;
}

/** Notices replies that are lost. See `watchHandover`. */
export function noticeLostReplies(server: FastifyInstance): void {
  server.server.on('connection', (socket: Socket) => {
    const watched: Handover[] = [];
    handovers.set(socket, watched);
    socket.once('close', (isBroken) => {
      const brokenAt = performance.now();
      for (const { tellOfLoss, finishedAt } of watched) {
        if (finishedAt === undefined || (isBroken && brokenAt - finishedAt < BREAKS_WITHIN_MS)) tellOfLoss();
      }
    });
  });
  // The next request proves that the client read the earlier replies, which finish in order.
  server.addHook('onRequest', ({ raw: { socket } }, _reply, done) => {
    const watched = handovers.get(socket);
    while (watched?.[0]?.finishedAt !== undefined) watched.shift();
    done();
  });
  server.addHook('onResponse', ({ call, raw: { socket } }, _reply, done) => {
    const handover = handovers.get(socket)?.find((one) => one.call === call);
    if (handover) handover.finishedAt = performance.now();
    done();
  });
}
