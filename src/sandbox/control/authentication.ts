import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

const HEADER = 'X-Sandbox-Control-Key';

/**
 * Rejects requests without the control key. An API key is not accepted, because a service does not let its customers
 * break it.
 */
export function requireControlKey(control: FastifyInstance, controlKey: string): void {
  const expected = digest(controlKey);
  control.addHook('onRequest', (request, reply, done) => {
    const given = request.headers[HEADER.toLowerCase()];
    if (typeof given === 'string' && timingSafeEqual(digest(given), expected)) return done();
    void reply.status(401).send({ error: `send the control key in the header ${HEADER}` });
  });
}

/** Always returns the same length, so that the comparison takes the same time. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
