import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

const HEADER = 'X-Sandbox-Control-Key';

/** Refuses whoever does not carry the control key. An API key is none: a service does not let its customers break it. */
export function requireControlKey(control: FastifyInstance, controlKey: string): void {
  const expected = digest(controlKey);
  control.addHook('onRequest', (request, reply, done) => {
    const given = request.headers[HEADER.toLowerCase()];
    if (typeof given === 'string' && timingSafeEqual(digest(given), expected)) return done();
    void reply.status(401).send({ error: `send the control key in the header ${HEADER}` });
  });
}

/** Of equal length whatever was given, so that the comparison takes the same time for all. */
function digest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
