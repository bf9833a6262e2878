/** Parameters of an address that pg or the proxy supports. */
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
export function parameterFaults(given: URLSearchParams): string[] {
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
