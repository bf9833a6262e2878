import { createLocalJWKSet, JWK } from 'jose';
import { readBounded } from '../../platform/bounded-text';
import { Egress } from '../../platform/network/egress';
import { readStrictJson } from '../../platform/json/strict-json';
import { codeOf } from '../../platform/errors/error-code';
import { isObject } from '../../platform/json/is-object';

/** Returns the key that a header of a token names. */
export type KeySet = ReturnType<typeof createLocalJWKSet>;

/** A request with a token waits for the keys, once per provider. */
const TIMEOUT_MS = 3_000;

/** Providers have a few keys of 1 to 3 KiB each. */
const MAX_BYTES = 262_144;
const MAX_KEYS = 100;

/** An answer without keys. The message is safe to log. */
export class NoKeys extends Error {}

/** Reads the keys of a provider. @throws NoKeys */
export async function fetchKeys(url: string, egress: Egress): Promise<KeySet> {
  try {
    const response = await egress.fetch(url, {
      headers: { Accept: 'application/jwk-set+json, application/json' },
      redirect: 'manual', // the operator has named this address, and no other
      signal: AbortSignal.timeout(TIMEOUT_MS), // also while the answer is read
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new NoKeys(`status ${response.status}`);
    }
    const text = await readBounded(response, MAX_BYTES);
    if (text === undefined) throw new NoKeys('too large');
    return createLocalJWKSet({ keys: keysIn(text) });
  } catch (error) {
    if (error instanceof NoKeys) throw error;
    const { name, cause } = error as Error;
    throw new NoKeys(name === 'TimeoutError' ? 'timeout' : (codeOf(cause) ?? name));
  }
}

/** Returns the public keys of an answer. A secret key there is no secret, so it proves nothing. */
function keysIn(text: string): JWK[] {
  const { keys } = readStrictJson(text) as { keys?: unknown };
  const all: unknown[] = Array.isArray(keys) ? keys : [];
  const usable = all.filter((key): key is JWK => isObject(key) && ['RSA', 'EC', 'OKP'].includes(String(key.kty)));
  const isPublic = usable.every((key) => key.d === undefined);
  if (usable.length === 0 || usable.length > MAX_KEYS || !isPublic) throw new NoKeys('no set of public keys');
  return usable;
}
