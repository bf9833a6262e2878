import { FastifyRequest } from 'fastify';
import { isLoopback, within } from '../../platform/config/address-block';
import { Config } from '../../platform/config/config';

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
