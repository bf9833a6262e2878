import cors, { FastifyCorsOptions, FastifyCorsOptionsDelegateCallback } from '@fastify/cors';
import { Injectable, Logger } from '@nestjs/common';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback, within } from '../../platform/config/network/address-block';
import { Config } from '../../platform/config/config';
import { SidePrisma } from '../../platform/database/pools/side-prisma';

/** Routes that an orchestrator calls by the address of an instance. They show nothing of a caller. */
const PROBES = ['/livez', '/readyz', '/metrics'];

/** A request target in the absolute form, which counts instead of the header Host (RFC 9112, section 3.2.2). */
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** A host with or without a port, and nothing else that a URL can have before its path. */
const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d+)?$/i;

/** Returns the origin of the proxy by which a request reached it. Undefined if the request is for another host. */
export type OwnOriginOf = (request: FastifyRequest) => string | undefined;

/**
 * Makes the only reader of Host, X-Forwarded-Host and X-Forwarded-Proto. A caller may write anything there. With PUBLIC_URL, they
 * choose among its origins. Without it, the proxy is on the machine of a developer: loopback names, the address of the
 * connection and what a trusted proxy states are believed, and any other host counts as `localhost`.
 */
export function ownOriginReader(settings: Pick<Config, 'publicUrls' | 'trustedProxies'>): OwnOriginOf {
  const { publicUrls } = settings;
  const isTrusted = within(settings.trustedProxies);
  return (request) => {
    const { headers, originalUrl, routeOptions, socket } = request;
    const isForwarded = isTrusted(socket.remoteAddress ?? '');
    const stated = (name: string) =>
      isForwarded ? outermost(headers[name], headers['x-forwarded-for'], isTrusted) : '';
    const host = ABSOLUTE.exec(originalUrl)?.[1] ?? (stated('x-forwarded-host') || headers.host || '');
    if (publicUrls.length > 0) {
      const own = publicUrls.find((origin) => originOf(new URL(origin).protocol, host) === origin);
      return own ?? (PROBES.includes(routeOptions.url ?? '') ? publicUrls[0] : undefined);
    }
    const isBelieved = isForwarded || isLocal(host, socket.localAddress);
    const protocol = stated('x-forwarded-proto').toLowerCase() === 'https' ? 'https:' : 'http:';
    return (isBelieved ? originOf(protocol, host) : undefined) ?? `http://localhost:${socket.localPort}`;
  };
}

/** Returns the address of a request at one of our origins, whatever the form of its target. */
export function ownAddressOf({ call, originalUrl }: FastifyRequest): string {
  return `${call.ownOrigin}${originalUrl.replace(ABSOLUTE, '')}`;
}

function originOf(protocol: string, host: string): string | undefined {
  const url = `${protocol}//${host}`;
  return HOST.test(host) && URL.canParse(url) ? new URL(url).origin : undefined;
}

function isLocal(host: string, localAddress = ''): boolean {
  const name = host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '');
  return isLoopback(name) || name === localAddress.replace(/^::ffff:/i, '');
}

/**
 * Returns the entry that the outermost trusted proxy wrote. Each proxy appends an entry, and to X-Forwarded-For the address of
 * its caller. An entry before that of a trusted proxy counts if its own caller is a trusted proxy, or is not stated.
 * @returns an empty text if there is none.
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
