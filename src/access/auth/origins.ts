import cors, { FastifyCorsOptions, FastifyCorsOptionsDelegateCallback } from '@fastify/cors';
import { Injectable, Logger } from '@nestjs/common';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { SidePrisma } from '../../platform/database/side-prisma';

/** How long browsers keep the answer to a preflight. After 10 minutes, they notice a removed origin. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;

/** Keeps the web origins that any client allows. */
@Injectable()
export class OriginsService {
  private readonly logger = new Logger('Origins');
  /** Whether pages of each origin may send cookies. */
  private origins = new Map<string, { cookies: boolean }>();
  private reading: Promise<void> | undefined;

  constructor(private readonly prisma: SidePrisma) {}

  /**
   * Returns what pages of this origin may do. Undefined if they may not read responses. Callers need no key to ask, so the
   * database gets one query at a time, however many wait for it.
   */
  async find(origin: string): Promise<{ cookies: boolean } | undefined> {
    await (this.reading ??= this.read());
    return this.origins.get(origin);
  }

  private async read(): Promise<void> {
    try {
      const rows = await this.prisma.$queryRaw<{ origin: string; cookies: boolean }[]>`
        SELECT origin, bool_or(page_issuer IS NOT NULL) AS cookies FROM client, unnest(origins) AS origin GROUP BY origin`;
      this.origins = new Map(rows.map(({ origin, cookies }) => [origin, { cookies }]));
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
export function foreignOrigin({ headers }: FastifyRequest, ownOrigin: string): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  // Only browsers send one. A middlebox may remove it and leave the newer header.
  if (origin === undefined) return site === 'cross-site' || site === 'same-site' ? UNTOLD : undefined;
  return origin === ownOrigin ? undefined : origin;
}

/**
 * Lets pages of allowed origins call the proxy and read its responses (CORS). It answers preflights, which have no key,
 * and adds headers to every response, including errors. Whether the key's client allows the origin is checked later.
 * @returns once its hook is registered, so that later hooks follow it.
 */
export async function answerBrowsers(server: FastifyInstance, origins: OriginsService): Promise<void> {
  const optionsFor: FastifyCorsOptionsDelegateCallback = ({ headers: { origin } }, done) => {
    if (origin === undefined) return done(null, NONE); // an app on a server: there is nothing to wait for
    origins.find(origin).then(
      (allowed) => done(null, allowed ? { ...OPTIONS, origin: true, credentials: allowed.cookies } : NONE),
      (error: Error) => done(error, undefined),
    );
  };
  await server.register(cors, () => optionsFor);
}

const NONE: FastifyCorsOptions = { origin: false };

/**
 * Pages may send any header. Those that the proxy does not read have no effect, and none goes upstream. A list would break
 * each page whose telemetry adds `sentry-trace`, `baggage`, or a header that nobody has heard of.
 */
const OPTIONS: FastifyCorsOptions = {
  methods: ['GET', 'POST', 'PATCH', 'DELETE'],
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
};
