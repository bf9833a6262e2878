import { FastifyInstance } from 'fastify';
import { Readable } from 'node:stream';

/** How long a client may read nothing of a response. */
export const STALLED_AFTER_MS = 30_000;

/**
 * Ends streamed responses that nobody reads. A stream pauses while its connection takes no more data. A stream that stays
 * paused would hold its place, and its source, for as long as the connection lasts.
 */
export function endStalledAnswers(server: FastifyInstance): void {
  server.addHook('onSend', (_request, _reply, payload, done) => {
    if (payload instanceof Readable) watch(payload);
    done();
  });
}

function watch(stream: Readable): void {
  let timer: NodeJS.Timeout | undefined;
  const goOn = () => clearTimeout(timer);
  stream.on('pause', () => {
    clearTimeout(timer);
    timer = setTimeout(
      () => stream.destroy(new Error('the client stopped reading the response')),
      STALLED_AFTER_MS,
    ).unref();
  });
  stream.on('resume', goOn);
  stream.once('close', goOn);
}
