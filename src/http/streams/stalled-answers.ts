import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { FastifyInstance } from 'fastify';

/** Time in which a client must take some of the bytes that wait for it. */
const STALLED_AFTER_MS = 30_000;

/** Checks of each response per time limit. */
const LOOKS = 3;
export const LOOK_EVERY_MS = STALLED_AFTER_MS / LOOKS;

/** Minimum length of a watched answer. A shorter one fits the buffers of the operating system. */
const LONG_ANSWER_BYTES = 65_536;

/**
 * Ends long responses whose readers have stalled. They would hold their slot, their source and their memory
 * for as long as the connection lasts. A response comes in pieces of some 64 kB, and each must be taken in
 * time, so a reader needs at least 2 kB a second.
 */
export function endStalledAnswers(server: FastifyInstance): void {
  server.addHook('onSend', (_request, { raw }, payload, done) => {
    if (isLong(payload)) watch(raw);
    done();
  });
}

function isLong(payload: unknown): boolean {
  if (payload instanceof Readable) return true;
  return (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length > LONG_ANSWER_BYTES;
}

function watch(response: ServerResponse): void {
  const { socket } = response.req;
  let [taken, unchanged] = [-1, 0];
  const look = () => {
    const now = socket.bytesWritten - socket.writableLength;
    unchanged = socket.writableLength > 0 && now === taken ? unchanged + 1 : 0;
    taken = now;
    if (unchanged >= LOOKS) socket.destroy();
    else timer = setTimeout(look, LOOK_EVERY_MS).unref();
  };
  let timer = setTimeout(look, LOOK_EVERY_MS).unref();
  response.once('close', () => clearTimeout(timer));
}
