import { Environment } from '../environment/environment';
import { Secret } from '../secrets/secret';

type Given = Readonly<Record<string, string | undefined>>;

/** Egress proxies of requests to other hosts. */
export type EgressConfig = Readonly<ReturnType<typeof toEgressConfig>>;

export function toEgressConfig(env: Environment) {
  const { HTTP_PROXY: http, HTTPS_PROXY: https } = env;
  return {
    /** For `http://` addresses. Secret, because it may contain a password. Undefined connects directly. */
    httpProxy: http === undefined ? undefined : new Secret(http),
    /** For `https://` addresses. */
    httpsProxy: https === undefined ? undefined : new Secret(https),
    /** Hosts reached directly (no-proxy.ts). */
    noProxy: Object.freeze(env.NO_PROXY),
  };
}

/**
 * Returns the environment with `https_proxy` and the like in upper case. Two different values are a fault,
 * because programs prefer different spellings.
 */
export function spelledOnce(given: Given): { spelled: Record<string, string | undefined>; faults: string[] } {
  const spelled = { ...given };
  const faults: string[] = [];
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const) {
    const lower = name.toLowerCase();
    if (given[lower] === undefined) continue;
    if ((given[name] ?? given[lower]) !== given[lower]) faults.push(`${name} and ${lower} must not differ`);
    spelled[name] = given[lower];
    delete spelled[lower];
  }
  return { spelled, faults };
}
