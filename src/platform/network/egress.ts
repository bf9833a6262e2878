import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { Agent, buildConnector, fetch, Pool } from 'undici';
import { isLoopback } from '../config/network/address-block';
import { EgressConfig } from '../config/network/egress-config';
import { ProxyException, readException } from '../config/network/no-proxy';
import { codeOf } from '../errors/error-code';

/** Time limit of a connection. Callers of `fetch` wait for 2 to 5 seconds. */
const FETCH_CONNECT_MS = 3_000;

/** Codes with the same meaning with and without a proxy. */
const PLAIN_CODES = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

const DIRECT: EgressConfig = { httpProxy: undefined, httpsProxy: undefined, noProxy: [] };

/** The failure of a tunnel through the egress proxy. Nothing was sent to the host. */
class TunnelFailed extends Error {
  constructor(readonly code: string) {
    super(`no tunnel through the egress proxy: ${code}`);
  }
}

/** Opens all outgoing connections: directly, or through a tunnel of the egress proxy (RFC 9110, 9.3.6). */
export class Egress {
  private readonly exceptions: readonly ProxyException[];
  private readonly agent: Agent;

  constructor(private readonly config: EgressConfig = DIRECT) {
    this.exceptions = config.noProxy.flatMap((entry) => readException(entry) ?? []);
    this.agent = new Agent({ connect: this.connector(FETCH_CONNECT_MS) });
  }

  /** The Fetch API. */
  readonly fetch = async (url: string, init: RequestInit): Promise<Response> =>
    await fetch(url, { ...(init as object), dispatcher: this.agent });

  /** Returns the connector of an undici pool. Each connection, and each step of a tunnel, has this time. */
  connector(timeoutMs: number): buildConnector.connector {
    const direct = buildConnector(connecting(timeoutMs));
    const tunnels = {
      'http:': this.config.httpProxy && new Tunnels(new URL(this.config.httpProxy.reveal()), timeoutMs),
      'https:': this.config.httpsProxy && new Tunnels(new URL(this.config.httpsProxy.reveal()), timeoutMs),
    };
    return (target, callback) => {
      const ofProtocol = tunnels[target.protocol as keyof typeof tunnels];
      if (!ofProtocol || this.isDirect(target)) return direct(target, ending(callback));
      ofProtocol.open(target).then(
        (socket) => {
          if (target.protocol === 'https:') direct({ ...target, httpSocket: socket }, ending(callback));
          else callback(null, socket);
        },
        (error: TunnelFailed) => callback(error, null),
      );
    };
  }

  async close(): Promise<void> {
    await this.agent.close();
  }

  private isDirect(target: buildConnector.Options): boolean {
    const host = target.hostname.toLowerCase();
    return isLoopback(host) || this.exceptions.some((applies) => applies(host, portOf(target)));
  }
}

/** The tunnels of one proxy. */
class Tunnels {
  private readonly logger = new Logger('Egress');
  private readonly pool: Pool;
  private readonly headers: Record<string, string>;

  constructor(
    private readonly proxy: URL,
    timeoutMs: number,
  ) {
    this.pool = new Pool(proxy.origin, { connect: connecting(timeoutMs), headersTimeout: timeoutMs });
    const { username, password } = proxy;
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.headers = username
      ? { 'Proxy-Authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }
      : {};
  }

  /** @throws TunnelFailed */
  async open(target: buildConnector.Options): Promise<Socket> {
    const host = isIP(target.hostname) === 6 ? `[${target.hostname}]` : target.hostname;
    const authority = `${host}:${portOf(target)}`;
    const request = {
      origin: this.proxy.origin,
      path: authority,
      headers: { ...this.headers, Host: authority },
      servername: this.proxy.hostname, // undici would expect the certificate of the target
    };
    const { socket, statusCode } = await this.pool.connect(request).catch((error: unknown) => {
      throw new TunnelFailed(tunnelCodeOf(error));
    });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.on('error', () => undefined).destroy();
    this.logger.warn({ host, status: statusCode }, 'egress proxy refused a tunnel');
    throw new TunnelFailed(`PROXY_STATUS_${statusCode}`);
  }
}

/**
 * Returns the time limits of a connection. Each address of a host but the last has a third of the time.
 * Node.js has 250 ms, less than a round trip between continents.
 */
function connecting(timeoutMs: number): { timeout: number; autoSelectFamilyAttemptTimeout: number } {
  return { timeout: timeoutMs, autoSelectFamilyAttemptTimeout: Math.ceil(timeoutMs / 3) };
}

function portOf({ port, protocol }: buildConnector.Options): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

/**
 * Changes the code for a certificate of another name. With Node's code, undici 7 never returns from a pool
 * with waiting requests: it skips those without a server name, and begins again in the same turn. With
 * another code, it ends all of them.
 */
function ending(callback: buildConnector.Callback): buildConnector.Callback {
  return (...[error, socket]) => {
    if (error === null) return callback(null, socket);
    const isOtherName = codeOf(error) === 'ERR_TLS_CERT_ALTNAME_INVALID';
    callback(isOtherName ? Object.assign(error, { code: 'TLS_CERT_OTHER_NAME' }) : error, null);
  };
}

/** Returns a code after which undici does not retry the connection forever. */
function tunnelCodeOf(error: unknown): string {
  const known = codeOf(error) ?? 'FAILED';
  if (known === 'UND_ERR_HEADERS_TIMEOUT') return 'UND_ERR_CONNECT_TIMEOUT';
  return PLAIN_CODES.includes(known) ? known : `PROXY_${known}`;
}
