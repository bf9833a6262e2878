import cors, { OriginFunction } from '@fastify/cors';
import { Injectable, Logger } from '@nestjs/common';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { SidePrisma } from '../../platform/database/side-prisma';

/** How long browsers keep the answer to a preflight. After 10 minutes, they notice a removed origin. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;

/** Keeps the web origins that any client allows. */
@Injectable()
export class OriginsService {
  private readonly logger = new Logger('Origins');
  private origins = new Set<string>();
  private reading: Promise<void> | undefined;

  constructor(private readonly prisma: SidePrisma) {}

  /**
   * Whether pages of this origin may read responses. Callers need no key to ask, so the database gets one query at a
   * time, however many wait for it.
   */
  async allow(origin: string): Promise<boolean> {
    await (this.reading ??= this.read());
    return this.origins.has(origin);
  }

  private async read(): Promise<void> {
    try {
      const rows = await this.prisma.$queryRaw<{ origin: string }[]>`
        SELECT DISTINCT unnest(origins) AS origin FROM client`;
      this.origins = new Set(rows.map(({ origin }) => origin));
    } catch (err) {
      // The page can then read the 503.
      this.logger.warn({ err }, 'allowed origins not read, the last known ones stay in effect');
    } finally {
      this.reading = undefined;
    }
  }
}

/** What browsers send for a page whose origin they do not tell. */
const UNTOLD = 'null';

/** Returns the origin of the page that asks, according to the browser. Undefined for a page of this proxy. */
export function foreignOrigin(request: FastifyRequest): string | undefined {
  const { origin, 'sec-fetch-site': site } = request.headers;
  // Only browsers send one. A middlebox may remove it and leave the newer header.
  if (origin === undefined) return site === 'cross-site' || site === 'same-site' ? UNTOLD : undefined;
  // Fastify works out protocol and host anew each time.
  return origin === `${request.protocol}://${request.host}` ? undefined : origin;
}

/**
 * Lets pages of allowed origins call the proxy and read its responses (CORS). It answers preflights, which have no key,
 * and adds headers to every response, including errors. Whether the key's client allows the origin is checked later.
 * @returns once its hook is registered, so that later hooks follow it.
 */
export async function answerBrowsers(server: FastifyInstance, origins: OriginsService): Promise<void> {
  const isAllowed: OriginFunction = (origin, done) => {
    if (origin === undefined) return done(null, false); // an app on a server: there is nothing to wait for
    origins.allow(origin).then(
      (allowed) => done(null, allowed),
      (error: Error) => done(error, false),
    );
  };
  await server.register(cors, {
    origin: isAllowed,
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'X-API-Key',
      'Authorization',
      'DPoP',
      'Content-Type',
      'Idempotency-Key',
      'Allow-Duplicate-Of',
      'X-Request-Id',
      'X-Actor',
      'X-People',
      'traceparent',
    ],
    exposedHeaders: [
      'X-Call-Id',
      'X-Request-Id',
      'Idempotent-Replayed',
      'Location',
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      'Server-Timing',
      'Age',
      'WWW-Authenticate',
    ],
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    strictPreflight: false, // Its error would have another form than ours.
  });
}
