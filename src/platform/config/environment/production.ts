import { readDatabaseUrl } from '../database/database-url';
import { isLoopback } from '../network/address-block';
import { LEAST_WEBHOOK_KEY_BYTES, webhookKeyOf } from '../secrets/webhook-key';
import { Environment } from './environment';

const WITH = 'with NODE_ENV=production';

const DATABASE_URLS = [
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'DATABASE_SEALER_URL',
  'DATABASE_SESSION_URL',
  'DATABASE_REPLICA_URL',
] as const;

/** A listing that is requested sooner after a rejection may not show yet that it was paid all the same. */
const LEAST_REJECTED_QUIET_SECONDS = 30;

/** Values of sslmode with certificate verification in pg. */
const VERIFYING = ['require', 'verify-ca', 'verify-full'];

/**
 * Returns the faults of an environment in production only. Each names a variable and its rule, never its
 * value.
 * @param needed the variables of the command. Undefined means all.
 */
export function productionFaults(env: Environment, needed: readonly string[] | undefined): string[] {
  const faults: string[] = [];
  for (const name of ['DATABASE_URL', 'UPSTREAM_BASE_URL', 'UPSTREAM_API_KEY'] as const) {
    if (!env[name] && (needed?.includes(name) ?? true)) faults.push(`${name} is required ${WITH}`);
  }
  if (env.PUBLIC_URL.length === 0 && (needed?.includes('PUBLIC_URL') ?? true))
    faults.push(`PUBLIC_URL is required ${WITH}: the address by which callers reach the proxy`);
  if (env.DUPLICATE_GUARD === 'false') faults.push(`DUPLICATE_GUARD=false is not allowed ${WITH}`);
  if (env.RESOLVER_REJECTED_QUIET_SECONDS < LEAST_REJECTED_QUIET_SECONDS)
    faults.push(`RESOLVER_REJECTED_QUIET_SECONDS must be at least ${LEAST_REJECTED_QUIET_SECONDS} ${WITH}`);
  for (const name of ['UPSTREAM_BASE_URL', 'SCREENING_URL', 'OIDC_ISSUER', 'PUBLIC_URL'] as const) {
    if (![env[name] ?? []].flat().some(isPlain)) continue;
    faults.push(
      `${name} must begin with https:// ${WITH}. http:// is allowed only for this machine (localhost, ` +
        '127.0.0.1, [::1])',
    );
  }
  if (!env.DATABASE_ALLOW_UNSAFE.includes('no_tls')) {
    for (const name of DATABASE_URLS.filter((one) => isUnverified(env[one])))
      faults.push(
        `${name} must have sslmode=verify-full ${WITH}, unless its hosts are this machine. ` +
          'DATABASE_ALLOW_UNSAFE=no_tls allows connections without verified TLS',
      );
  }
  for (const name of ['UPSTREAM_WEBHOOK_SECRET', 'SCREENING_SECRET'] as const) {
    const secret = env[name];
    if (secret === undefined || webhookKeyOf(secret).length >= LEAST_WEBHOOK_KEY_BYTES) continue;
    faults.push(
      `${name} must have at least ${LEAST_WEBHOOK_KEY_BYTES} bytes ${WITH}. The bytes of whsec_ are ` +
        'counted after base64 is decoded',
    );
  }
  return faults;
}

/** Returns whether requests would leave this machine unencrypted. */
function isPlain(url: string): boolean {
  if (!URL.canParse(url)) return false; // another rule rejects it
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/** Returns whether the records would leave this machine unencrypted, or for an unverified server. */
function isUnverified(url: string | undefined): boolean {
  if (url === undefined) return false;
  const { servers } = readDatabaseUrl(url, 'reading');
  // a socket has a path
  if (servers.every(({ host }) => host.startsWith('/') || isLoopback(host))) return false;
  const given = new URLSearchParams(url.split('?', 2)[1]);
  const mode = given.getAll('sslmode').at(-1); // pg uses the last one, too
  const isVerifying = mode === undefined ? given.get('ssl') === 'true' : VERIFYING.includes(mode);
  const isLax = given.has('uselibpqcompat') && mode !== 'verify-full'; // `require` then verifies nothing
  return !isVerifying || isLax;
}
