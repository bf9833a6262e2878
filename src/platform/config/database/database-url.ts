import { parameterFaults } from './database-parameters';

/** One server of an address. */
export interface Server {
  /** A name, an IP address without brackets, or the folder of a socket. */
  host: string;
  port: number;
}

/** Which servers a connection may use, as libpq names them (`target_session_attrs`). */
export type Target = 'any' | 'read-write' | 'standby' | 'prefer-standby';

/** A `postgresql://` address of one or several servers, as libpq reads it. */
export interface DatabaseUrl {
  /** The address as it was given. */
  url: string;
  /**
   * More than one if the address lists several. One or none otherwise: pg then reads the address by itself.
   */
  servers: readonly Server[];
  target: Target;
  /**
   * What the parameter `options` has. It is left out of the addresses for pg, where it would replace the
   * proxy's own.
   */
  options: string | undefined;
  /** The faults of the address. They never quote it, because a password may be anywhere in it. */
  faults: readonly string[];
}

/** What an address is used for. Payments need servers that take writes. */
export type Use = 'writing' | 'reading';

const TARGETS: Readonly<Record<Use, Readonly<Record<string, Target>>>> = {
  writing: { any: 'any', 'read-write': 'read-write', primary: 'read-write' },
  reading: { any: 'any', standby: 'standby', 'read-only': 'standby', 'prefer-standby': 'prefer-standby' },
};

/** scheme://[user[:password]@][hosts][/database][?parameters] */
const FORM = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

const DEFAULT_PORT = '5432';

/** Reads an address. With faults, the rest may be incomplete. */
export function readDatabaseUrl(url: string, use: Use = 'writing'): DatabaseUrl {
  const form = /\s/.test(url) ? null : FORM.exec(url);
  if (!form) {
    const faults = [
      'must be an address such as postgresql://user@host:5432/database, with several hosts as ' +
        'host1:5432,host2:5432',
    ];
    return { url, servers: [], target: 'any', options: undefined, faults };
  }
  const faults: string[] = [];
  const given = new URLSearchParams(form[4] ?? '');
  const servers = serversOf(form[2] ?? '', given, faults);
  faults.push(...parameterFaults(given));
  const target = targetOf(given.get('target_session_attrs'), servers.length, use, faults);
  return { url, servers, target, options: given.get('options') ?? undefined, faults };
}

/**
 * Returns the address of one server of an address, for pg.
 * @param server undefined if the address does not list several.
 */
export function urlOfServer({ url }: DatabaseUrl, server: Server | undefined): string {
  const [, login = '', hosts = '', path = '/', query = ''] = FORM.exec(url) ?? [];
  const left = ['options', 'target_session_attrs', ...(server ? ['host', 'port'] : [])];
  const parameters = query
    .split('&')
    .filter((pair) => pair !== '' && !left.includes(pair.split('=')[0] ?? ''));
  if (server) parameters.push(`host=${encodeURIComponent(server.host)}`, `port=${server.port}`);
  const user = login === '' ? '' : `${login}@`;
  const all = parameters.length === 0 ? '' : `?${parameters.join('&')}`;
  return `postgresql://${user}${server ? '' : hosts}${path}${all}`;
}

/** Names a server for people: `db-1:5432`. */
export function nameOfServer({ host, port }: Server): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Hosts and ports are in the address itself or in its parameters. One port in the parameters is that of all
 * hosts.
 */
function serversOf(authority: string, given: URLSearchParams, faults: string[]): Server[] {
  const inParameters = given.get('host')?.split(',');
  const listed = inParameters ?? authority.split(',');
  const hosts = listed.map((text, index) => hostOf(text, index, inParameters !== undefined, faults));
  const ports = given.get('port')?.split(',') ?? hosts.map(({ port }) => port || DEFAULT_PORT);
  if (ports.length !== 1 && ports.length !== hosts.length)
    faults.push('must have one port for all hosts, or one for each');
  if (hosts.length === 1 && hosts[0]?.host === '') faults.push('must name a host');
  return hosts.map(({ host }, index) => {
    const port = ports[ports.length === 1 ? 0 : index] ?? '';
    if (!isPort(port)) faults.push(`must have a port from 1 to 65535 for host ${index + 1}`);
    if (hosts.length > 1 && host === '') faults.push(`must have a name for host ${index + 1}`);
    return { host, port: Number(port) };
  });
}

function hostOf(
  text: string,
  index: number,
  isParameter: boolean,
  faults: string[],
): { host: string; port: string } {
  const decoded = isParameter ? text : decode(text);
  if (decoded === undefined)
    faults.push(`must have a name for host ${index + 1} whose percent-encoding is valid`);
  const [, inBrackets, name = '', port = ''] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/.exec(decoded ?? '') ?? (isParameter ? ['', text] : []);
  const host = inBrackets ?? name;
  if (inBrackets === undefined && !isParameter && /:/.test(port))
    faults.push(`must have brackets around the IPv6 address of host ${index + 1}`);
  return { host, port };
}

function targetOf(given: string | null, servers: number, use: Use, faults: string[]): Target {
  const standard = use === 'reading' ? 'prefer-standby' : 'read-write';
  if (given === null) return servers > 1 ? standard : 'any';
  const target = TARGETS[use][given];
  if (target === undefined || (target === 'any' && use === 'writing' && servers > 1)) {
    const names = Object.keys(TARGETS[use]).filter(
      (name) => use === 'reading' || servers < 2 || name !== 'any',
    );
    const why = use === 'reading' ? '' : '. Payments need a server that takes writes';
    faults.push(`must have a target_session_attrs of ${names.join(', ')}${why}`);
  }
  return target ?? standard;
}

const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
