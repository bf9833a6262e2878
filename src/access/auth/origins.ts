import cors, { FastifyCorsOptions, FastifyCorsOptionsDelegateCallback } from '@fastify/cors';
import { Injectable, Logger } from '@nestjs/common';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Config } from '../../platform/config/config';
import { isLoopback, within } from '../../platform/config/network/address-block';
import { SidePrisma } from '../../platform/database/pools/side-prisma';

/** Routes that an orchestrator calls by the instance's address. They show nothing about callers. */
const PROBES = ['/livez', '/readyz', '/metrics'];

/** Absolute form of a request target. It overrides the header Host (RFC 9112, section 3.2.2). */
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** A host with an optional port, and no other part of a URL's authority. */
const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d+)?$/i;

/** Returns the proxy's origin in a request. Undefined if the request is for another host. */
export type OwnOriginOf = (request: FastifyRequest) => string | undefined;

/**
 * Creates the only reader of Host, X-Forwarded-Host and X-Forwarded-Proto, which callers can forge. With
 * PUBLIC_URL, the headers only select one of its origins. Without it, the proxy runs on a developer's
 * machine: it accepts loopback names, the address of the connection and headers of trusted proxies. It
 * replaces any other host by `localhost`.
 */
export function ownOriginReader(settings: Pick<Config, 'publicUrls' | 'trustedProxies'>): OwnOriginOf {
  const own = settings.publicUrls.map((origin) => ({ origin, protocol: new URL(origin).protocol }));
  const isTrusted = within(settings.trustedProxies);
  return (request) => {
    const { headers, originalUrl, routeOptions, socket } = request;
    const isForwarded = isTrusted(socket.remoteAddress ?? '');
    const forwarded = (name: string) =>
      isForwarded ? outermost(headers[name], headers['x-forwarded-for'], isTrusted) : '';
    const host = ABSOLUTE.exec(originalUrl)?.[1] ?? (forwarded('x-forwarded-host') || headers.host || '');
    if (own[0]) {
      const named = own.find(({ origin, protocol }) => originOf(protocol, host) === origin);
      return (named ?? (PROBES.includes(routeOptions.url ?? '') ? own[0] : undefined))?.origin;
    }
    const isBelieved = isForwarded || isLocal(host, socket.localAddress);
    const protocol = forwarded('x-forwarded-proto').toLowerCase() === 'https' ? 'https:' : 'http:';
    return (isBelieved ? originOf(protocol, host) : undefined) ?? `http://localhost:${socket.localPort}`;
  };
}

/** Returns the URL of a request at one of our origins, for any form of its target. */
export function ownAddressOf({ call, originalUrl }: FastifyRequest): string {
  return `${call.ownOrigin}${originalUrl.replace(ABSOLUTE, '')}`;
}

/** The origins of the latest addresses. Parsing one takes longer than all other checks of a host. */
const parsed = new LRUCache<string, { origin: string | undefined }>({ max: 100 });

function originOf(protocol: string, host: string): string | undefined {
  const url = `${protocol}//${host}`;
  const known = parsed.get(url);
  if (known) return known.origin;
  const origin = HOST.test(host) && URL.canParse(url) ? new URL(url).origin : undefined;
  parsed.set(url, { origin });
  return origin;
}

function isLocal(host: string, localAddress = ''): boolean {
  const name = host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '');
  return isLoopback(name) || name === localAddress.replace(/^::ffff:/i, '');
}

/**
 * Returns the entry of the outermost trusted proxy, or an empty text. Each proxy appends an entry, and
 * appends its caller's address to X-Forwarded-For. The entry to the left counts if its caller is trusted or
 * missing.
 */
function outermost(
  header: string | string[] | undefined,
  forwardedFor: string | string[] | undefined,
  isTrusted: (address: string) => boolean,
): string {
  const entries = entriesOf(header);
  const callers = entriesOf(forwardedFor);
  const isFromOutside = (distance: number) => {
    const caller = callers.at(-1 - distance);
    return caller !== undefined && !isTrusted(caller);
  };
  let distance = 0;
  while (distance < entries.length - 1 && !isFromOutside(distance)) distance += 1;
  return entries.at(-1 - distance) ?? '';
}

function entriesOf(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  return [header]
    .flat()
    .join(',')
    .split(',')
    .map((entry) => entry.trim());
}

/** Cache time of a preflight's answer. Browsers notice a removed origin after 10 minutes. */
const PREFLIGHT_MAX_AGE_SECONDS = 600;

/** Caches the web origins that any client allows. */
@Injectable()
export class OriginsService {
  private readonly logger = new Logger('Origins');
  /** By origin: whether its pages may send cookies. */
  private origins = new Map<string, { cookies: boolean }>();
  private reading: Promise<void> | undefined;

  constructor(private readonly prisma: SidePrisma) {}

  /**
   * Returns the rights of pages of this origin. Undefined if they may not read responses. No key is needed,
   * so all waiting requests share one query at a time.
   */
  async find(origin: string): Promise<{ cookies: boolean } | undefined> {
    await (this.reading ??= this.read());
    return this.origins.get(origin);
  }

  private async read(): Promise<void> {
    try {
      const rows = await this.prisma.$queryRaw<{ origin: string; cookies: boolean }[]>`
        SELECT origin, bool_or(page_issuer IS NOT NULL) AS cookies FROM client, unnest(origins) AS origin
          GROUP BY origin`;
      this.origins = new Map(rows.map(({ origin, cookies }) => [origin, { cookies }]));
    } catch (err) {
      // Lets the page read the 503.
      this.logger.warn({ err }, 'allowed origins not read, the last known ones stay in effect');
    } finally {
      this.reading = undefined;
    }
  }
}

/** Origin header of a page with a hidden origin. */
const HIDDEN_ORIGIN = 'null';

/** Returns the origin of the calling page, as sent by the browser. Undefined for a page of this proxy. */
export function foreignOrigin({ headers }: FastifyRequest, ownOrigin: string): string | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  // A middlebox may strip Origin and keep the newer Sec-Fetch-Site.
  if (origin === undefined) return site === 'cross-site' || site === 'same-site' ? HIDDEN_ORIGIN : undefined;
  return origin === ownOrigin ? undefined : origin;
}

/**
 * Lets pages of allowed origins call the proxy and read its responses (CORS). Answers preflights, which have
 * no key, and adds headers to every response, including errors. The origins of the key's client are checked
 * later.
 * @returns once its hook is registered, before any later hook.
 */
export async function answerBrowsers(server: FastifyInstance, origins: OriginsService): Promise<void> {
  const optionsFor: FastifyCorsOptionsDelegateCallback = ({ headers: { origin } }, done) => {
    if (origin === undefined) return done(null, NO_CORS); // an app on a server
    origins.find(origin).then(
      (allowed) =>
        done(null, allowed ? { ...CORS_OPTIONS, origin: true, credentials: allowed.cookies } : NO_CORS),
      (error: Error) => done(error, undefined),
    );
  };
  await server.register(cors, () => optionsFor);
}

const NO_CORS: FastifyCorsOptions = { origin: false };

/**
 * Pages may send any header. Unknown ones have no effect, and none is sent upstream. A list would break pages
 * whose telemetry adds `sentry-trace`, `baggage` or another header.
 */
const CORS_OPTIONS: FastifyCorsOptions = {
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
  strictPreflight: false, // its error would not have our envelope
};
