import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { FastifyInstance } from 'fastify';

/** How long a client may take none of the bytes that wait for it. */
const STALLED_AFTER_MS = 30_000;

/** Looks at each response in this time. */
const LOOKS = 3;
export const LOOK_EVERY_MS = STALLED_AFTER_MS / LOOKS;

/** What is shorter is in the buffers of the operating system, and costs nothing while nobody reads it. */
const LONG_ANSWER_BYTES = 65_536;

/**
 * Ends long responses that nobody reads. They would hold their place, their source and their memory for as
 * long as the connection lasts. The pieces of a response have some 64 kB, and each must be taken in time, so
 * a reader needs at least 2 kB a second.
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
