import { Logger } from '@nestjs/common';
import { CryptoKey, errors, JWTHeaderParameters } from 'jose';
import { clock } from '../../platform/database/clock';
import { waitAtMost } from '../../platform/database/patience';
import { Egress } from '../../platform/network/egress';
import { Problem } from '../../platform/errors/problem';
import { fetchKeys, KeySet, NoKeys } from './fetch-keys';
import { invalidToken } from './refusals';

/** Keys of this age are read again in the background. A key that the provider has withdrawn counts until then. */
const FRESH_MS = 300_000;

/** A provider is asked at most this often, so that tokens with made-up keys cannot flood it. */
const COOL_DOWN_MS = 10_000;

/** More keys of one name than a provider has while it replaces one. */
const MAX_OF_NAME = 4;

/** Keeps the keys of one provider. */
export class ProviderKeys {
  private readonly logger = new Logger('Tokens');
  private keys: KeySet | undefined;
  /** When they were read, and when the provider was last asked. */
  private readAt = -Infinity;
  private askedAt = -Infinity;
  /** Whether the provider failed when it was last asked. */
  private failed = false;
  private asking: Promise<void> | undefined;

  /**
   * @param maxAgeMs how long keys count while the provider does not answer.
   * @param nowMs the time, in milliseconds.
   */
  constructor(
    private readonly url: string,
    private readonly maxAgeMs: number,
    private readonly egress: Egress,
    private readonly nowMs = () => clock.nowMs(),
  ) {}

  /**
   * Returns the keys that a token may be signed with. A provider that replaces a key may publish two of one name (`kid`). If
   * none is among the known keys, the provider is asked again.
   * @param patienceMs how long its request may still wait.
   * @throws Problem `provider_unavailable` if the provider does not answer, and the known keys are too old or do not contain
   * the key. `invalid_token` if the provider has no such key.
   */
  async keysFor(header: JWTHeaderParameters, patienceMs: number): Promise<CryptoKey[]> {
    if (this.ageMs > this.maxAgeMs) await this.ask(patienceMs);
    else if (this.ageMs > FRESH_MS) void this.ask(0);
    const known = await this.find(header);
    if (known.length > 0) return known;
    await this.ask(patienceMs);
    const found = await this.find(header);
    if (found.length > 0) return found;
    const isUncertain = this.failed || this.asking !== undefined;
    throw isUncertain ? new Problem('provider_unavailable') : invalidToken('the provider has no such key (kid)');
  }

  private get ageMs(): number {
    return this.since(this.readAt);
  }

  /** Returns how long ago something was. A time in the future was read from a wrong clock, so nobody knows. */
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
      throw invalidToken('its key cannot be used, or its header does not say which key it is (kid)');
    }
  }

  /** Asks the provider, unless it was asked a moment ago. All requests wait for one answer. */
  private async ask(patienceMs: number): Promise<void> {
    if (!this.asking && this.since(this.askedAt) < COOL_DOWN_MS) return;
    this.asking ??= this.read().finally(() => (this.asking = undefined));
    await waitAtMost(this.asking, patienceMs);
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
      const reason = error instanceof NoKeys ? error.message : 'unusable';
      this.logger.warn({ provider: host, reason }, 'keys of a provider not read, the last known ones stay in effect');
    }
  }
}

/** Returns the first keys of one name. Each costs a forged token a verification. */
async function firstOf(keys: AsyncIterable<CryptoKey>): Promise<CryptoKey[]> {
  const found: CryptoKey[] = [];
  for await (const key of keys) if (found.push(key) === MAX_OF_NAME) break;
  return found;
}
