import { isIP } from 'node:net';
import { within } from './address-block';
import { Environment } from './environment';
import { LEAST_WEBHOOK_KEY_BYTES, webhookKeyOf } from './webhook-key';

const WITH = 'with NODE_ENV=production';

/**
 * Returns what is wrong with an environment in production only. Each fault names a variable and its rule, never its value.
 * @param needed the names of the variables that the command needs. Undefined means all of them.
 */
export function productionFaults(env: Environment, needed: readonly string[] | undefined): string[] {
  const faults: string[] = [];
  for (const name of ['DATABASE_URL', 'UPSTREAM_BASE_URL', 'UPSTREAM_API_KEY'] as const) {
    if (!env[name] && (needed?.includes(name) ?? true)) faults.push(`${name} is required ${WITH}`);
  }
  if (env.DUPLICATE_GUARD === 'false') faults.push(`DUPLICATE_GUARD=false is not allowed ${WITH}`);
  if (env.UPSTREAM_BASE_URL && isPlain(env.UPSTREAM_BASE_URL)) {
    faults.push(
      `UPSTREAM_BASE_URL must begin with https:// ${WITH}. http:// is allowed only for this machine (localhost, 127.0.0.1, [::1])`,
    );
  }
  const secret = env.UPSTREAM_WEBHOOK_SECRET;
  if (secret !== undefined && webhookKeyOf(secret).length < LEAST_WEBHOOK_KEY_BYTES) {
    faults.push(
      `UPSTREAM_WEBHOOK_SECRET must have at least ${LEAST_WEBHOOK_KEY_BYTES} bytes ${WITH}. The bytes of whsec_ are counted after base64 is decoded`,
    );
  }
  return faults;
}

/** Returns whether requests, with the key and all recipients, would travel unencrypted to another machine. */
function isPlain(url: string): boolean {
  if (!URL.canParse(url)) return false; // another rule rejects it
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

const isLoopbackAddress = within(['127.0.0.0/8', '::1']);

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || (isIP(host) > 0 && isLoopbackAddress(host));
}
