import cors from '@fastify/cors';
import { Injectable, Logger } from '@nestjs/common';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { PrismaService } from '../../platform/database/prisma.service';

/** For a browser to keep the answer to a preflight; 10 minutes, so that a withdrawn origin is soon forgotten. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;

/** Keeps the web origins whose pages any client allows. */
@Injectable()
export class OriginsService {
  private readonly logger = new Logger('Origins');
  private origins = new Set<string>();
  private reading: Promise<void> | undefined;

  constructor(private readonly prisma: PrismaService) {}

  /**
   * Whether pages of this origin may read our answers. That is asked before any key is known, so anybody can make us ask
   * the database: one question at a time, however many wait for it.
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
      this.logger.warn({ err }, 'allowed origins not read, the last known ones stay in effect'); // so that a page can read the 503
    } finally {
      this.reading = undefined;
    }
  }
}

/** Returns whether a request comes from a page of this proxy, according to the browser. */
export function isOwnOrigin({ headers: { origin }, protocol, host }: FastifyRequest): boolean {
  return origin === `${protocol}://${host}`;
}

/**
 * Lets a browser's pages of allowed origins call and read the answers (CORS): answers preflights, which have no key, and
 * gives every answer its headers, errors too. Whether the client of the key allows the origin is asked later.
 * @returns once its hook is in place, so that later ones come after it.
 */
export async function answerBrowsers(server: FastifyInstance, origins: OriginsService): Promise<void> {
  await server.register(cors, {
    origin: async (origin: string | undefined) => origin !== undefined && (await origins.allow(origin)),
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'X-API-Key',
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
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      'Server-Timing',
      'Age',
    ],
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    strictPreflight: false, // it would answer in words of its own
  });
}
