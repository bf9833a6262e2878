import { Logger } from '@nestjs/common';
import { createLocalJWKSet, CryptoKey, errors, JWK, JWTHeaderParameters } from 'jose';
import { readBounded } from '../../platform/bounded-body';
import { clock } from '../../platform/database/clock';
import { waitAtMost } from '../../platform/database/pools/timeouts';
import { codeOf } from '../../platform/errors/error-code';
import { Problem } from '../../platform/errors/problem';
import { isObject } from '../../platform/json/is-object';
import { readStrictJson } from '../../platform/json/strict-json';
import { Egress } from '../../platform/network/egress';
import { invalidToken } from './refusals';

/** Age at which keys are refreshed in the background. A withdrawn key is accepted until then. */
const FRESH_MS = 300_000;

/** Minimum interval of queries, so tokens with made-up keys cannot flood the provider. */
const COOL_DOWN_MS = 10_000;

/** Maximum number of keys with one ID. Above the number during a rotation. */
const MAX_OF_NAME = 4;

/** Caches the keys of one provider. */
export class ProviderKeys {
  private readonly logger = new Logger('Tokens');
  private keys: KeySet | undefined;
  /** Times of the last read of keys and of the last query. */
  private readAt = -Infinity;
  private askedAt = -Infinity;
  /** Whether the last query failed. */
  private failed = false;
  private refreshing: Promise<void> | undefined;

  /**
   * @param maxAgeMs the maximum age of keys during an outage of the provider.
   * @param nowMs the clock, in ms.
   */
  constructor(
    private readonly url: string,
    private readonly maxAgeMs: number,
    private readonly egress: Egress,
    private readonly nowMs = () => clock.nowMs(),
  ) {}

  /**
   * Returns the candidate keys of a token's signature. During a rotation, two keys may share an ID (`kid`).
   * For an unknown ID, the provider is queried again.
   * @param timeoutMs the remaining wait of its request.
   * @throws Problem `provider_unavailable` if the provider does not answer, and the known keys are too old or
   * lack the key. `invalid_token` if the provider has no such key.
   */
  async keysFor(header: JWTHeaderParameters, timeoutMs: number): Promise<CryptoKey[]> {
    if (this.ageMs > this.maxAgeMs) await this.refresh(timeoutMs);
    else if (this.ageMs > FRESH_MS) void this.refresh(0);
    const known = await this.find(header);
    if (known.length > 0) return known;
    await this.refresh(timeoutMs);
    const found = await this.find(header);
    if (found.length > 0) return found;
    const isUncertain = this.failed || this.refreshing !== undefined;
    throw isUncertain
      ? new Problem('provider_unavailable')
      : invalidToken('the provider has no such key (kid)');
  }

  private get ageMs(): number {
    return this.since(this.readAt);
  }

  /** Returns the age of a time, in ms. Infinite for a time in the future, which a wrong clock caused. */
  private since(ms: number): number {
    const age = this.nowMs() - ms;
    return age < 0 ? Infinity : age;
  }

  private async find(header: JWTHeaderParameters): Promise<CryptoKey[]> {
    if (!this.keys || this.ageMs > this.maxAgeMs) throw new Problem('provider_unavailable');
    try {
      return [await this.keys(header)];
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return [];
      if (error instanceof errors.JWKSMultipleMatchingKeys && header.kid !== undefined) return firstOf(error);
      throw invalidToken('its key is unusable, or its header does not identify the key (kid)');
    }
  }

  /** Queries the provider, unless it was queried recently. All requests share one query. */
  private async refresh(timeoutMs: number): Promise<void> {
    if (!this.refreshing && this.since(this.askedAt) < COOL_DOWN_MS) return;
    this.refreshing ??= this.read().finally(() => (this.refreshing = undefined));
    await waitAtMost(this.refreshing, timeoutMs);
  }

  private async read(): Promise<void> {
    this.askedAt = this.nowMs();
    try {
      this.keys = await fetchKeys(this.url, this.egress);
      this.readAt = this.nowMs();
      this.failed = false;
    } catch (error) {
      this.failed = true;
      const { host } = new URL(this.url);
      const reason = error instanceof KeysError ? error.message : 'unusable';
      this.logger.warn(
        { provider: host, reason },
        'keys of a provider not read, the last known ones stay in effect',
      );
    }
  }
}

/** Returns the first keys with one ID. A forged token costs one verification per key. */
async function firstOf(keys: AsyncIterable<CryptoKey>): Promise<CryptoKey[]> {
  const found: CryptoKey[] = [];
  for await (const key of keys) if (found.push(key) === MAX_OF_NAME) break;
  return found;
}

/** Returns the key that a header of a token names. */
type KeySet = ReturnType<typeof createLocalJWKSet>;

/** Timeout of a query, in ms. A request with a token waits for the keys, once per provider. */
const TIMEOUT_MS = 3_000;

/** Maximum size of an answer. Providers have a few keys of 1 to 3 KiB each. */
const MAX_BYTES = 262_144;
const MAX_KEYS = 100;

/** An answer without keys. The message is safe to log. */
class KeysError extends Error {}

/** Reads the keys of a provider. @throws NoKeys */
async function fetchKeys(url: string, egress: Egress): Promise<KeySet> {
  try {
    const response = await egress.fetch(url, {
      headers: { Accept: 'application/jwk-set+json, application/json' },
      redirect: 'manual', // only the operator's address is trusted
      signal: AbortSignal.timeout(TIMEOUT_MS), // covers the body
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new KeysError(`status ${response.status}`);
    }
    const bytes = await readBounded(response.body, MAX_BYTES);
    if (bytes === undefined) throw new KeysError('too large');
    return createLocalJWKSet({ keys: keysIn(bytes.toString()) });
  } catch (error) {
    if (error instanceof KeysError) throw error;
    const { name, cause } = error as Error;
    throw new KeysError(name === 'TimeoutError' ? 'timeout' : (codeOf(cause) ?? name));
  }
}

/** Returns the public keys of an answer. A published private key is compromised, so it is refused. */
function keysIn(text: string): JWK[] {
  const { keys } = readStrictJson(text) as { keys?: unknown };
  const all: unknown[] = Array.isArray(keys) ? keys : [];
  const usable = all.filter(
    (key): key is JWK => isObject(key) && ['RSA', 'EC', 'OKP'].includes(String(key.kty)),
  );
  const isPublic = usable.every((key) => key.d === undefined);
  if (usable.length === 0 || usable.length > MAX_KEYS || !isPublic)
    throw new KeysError('no set of public keys');
  return usable;
}
