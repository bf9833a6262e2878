/** One server of an address. */
export interface Server {
  /** A name, an IP address without brackets, or the folder of a socket. */
  host: string;
  port: number;
}

/** The servers that a connection may use, as libpq names them (`target_session_attrs`). */
export type SessionTarget = 'any' | 'read-write' | 'standby' | 'prefer-standby';

/** A `postgresql://` address of one or several servers, as libpq reads it. */
export interface DatabaseUrl {
  /** The address as it was given. */
  url: string;
  /** The servers of an address that lists several. Otherwise one or none, and pg reads the address. */
  servers: readonly Server[];
  target: SessionTarget;
  /** The parameter `options`. The addresses for pg omit it, because it would replace the proxy's own. */
  options: string | undefined;
  /** The faults of the address. They never quote it, because it may contain a password anywhere. */
  faults: readonly string[];
}

/** The use of an address. Payments need servers that take writes. */
export type ConnectionUse = 'writing' | 'reading';

const TARGETS: Readonly<Record<ConnectionUse, Readonly<Record<string, SessionTarget>>>> = {
  writing: { any: 'any', 'read-write': 'read-write', primary: 'read-write' },
  reading: { any: 'any', standby: 'standby', 'read-only': 'standby', 'prefer-standby': 'prefer-standby' },
};

/** scheme://[user[:password]@][hosts][/database][?parameters] */
const FORM = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

const DEFAULT_PORT = '5432';

/** Reads an address. With faults, the rest may be incomplete. */
export function readDatabaseUrl(url: string, use: ConnectionUse = 'writing'): DatabaseUrl {
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

/** Returns the servers of the authority or of the parameters. A single port is for all hosts. */
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

function targetOf(
  given: string | null,
  servers: number,
  use: ConnectionUse,
  faults: string[],
): SessionTarget {
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

/** Parameters of an address that pg or the proxy obeys. */
const OBEYED = [
  'host',
  'port',
  'user',
  'password',
  'options',
  'target_session_attrs',
  'ssl',
  'sslmode',
  'sslcert',
  'sslkey',
  'sslrootcert',
  'sslnegotiation',
  'uselibpqcompat',
  'application_name',
  'fallback_application_name',
  'client_encoding',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
];

const SERVER_PROOF = 'Remove it. sslmode=verify-full verifies the server';

/** Advice on common unsupported parameters of libpq, Prisma and hosting providers. */
const ADVICE: Readonly<Record<string, string>> = {
  hostaddr: 'Write the address as the host',
  service: 'Write the settings of the service into the address',
  servicefile: 'Write the settings of the service into the address',
  load_balance_hosts: 'Remove it. Payments need the one server that takes writes',
  channel_binding: SERVER_PROOF,
  require_auth: SERVER_PROOF,
  sslcrl: 'Remove it. Revocation lists are not supported',
  sslcrldir: 'Remove it. Revocation lists are not supported',
  schema: 'Remove it. All tables are in the schema public',
  pgbouncer: 'Remove it, and set DATABASE_SESSION_URL',
  connection_limit: 'Remove it, and set DATABASE_POOL_SIZE',
  pool_timeout: 'Remove it, and set REQUEST_DEADLINE_MS',
  connect_timeout: 'Remove it. A connection may take 5 seconds',
  dbname: 'Write the name of the database as the path of the address',
};

/**
 * Returns the faults of an address's parameters. An unsupported parameter is a fault, because the operator
 * relies on it. Unknown names are not quoted, because they may be a part of a password.
 */
function parameterFaults(given: URLSearchParams): string[] {
  const ignored = [...new Set(given.keys())].filter((name) => !OBEYED.includes(name));
  const known = ignored.filter((name) => Object.hasOwn(ADVICE, name));
  const faults = known.map(
    (name) => `must not have the parameter ${name}, which is not supported. ${ADVICE[name]}`,
  );
  if (known.length < ignored.length)
    faults.push(
      `must not have a parameter that is not supported. The supported ones are ${OBEYED.join(', ')}`,
    );
  return faults;
}
