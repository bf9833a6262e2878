import { Inject, Injectable } from '@nestjs/common';
import { compactVerify, JWTHeaderParameters } from 'jose';
import { LRUCache } from 'lru-cache';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { Egress } from '../../platform/network/egress';
import { AccessTokenClaims, checkAccessToken, TokenSource } from './access-token';
import { ProviderKeys } from './provider-keys';
import { CompactJws, expiredToken, invalidToken } from './refusals';

/** Maximum time until a token is verified again. */
const REMEMBERED_FOR_MS = 60_000;

/** Cache size. Above the number of tokens in use. The least recently used are evicted. */
const MAX_REMEMBERED = 10_000;

/** Cache size. Above the number of clients' providers. */
const MAX_PROVIDERS = 1_000;

export interface UnverifiedToken extends CompactJws {
  token: string;
  /** SHA-256, in base64. */
  sha256: string;
}

interface VerifiedToken {
  claims: AccessTokenClaims;
  /** The source that it was verified against. */
  source: string;
}

/** Verifies the access tokens of the providers of clients (RFC 9068). */
@Injectable()
export class TokensService {
  private readonly verified = new LRUCache<string, VerifiedToken>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_FOR_MS,
  });
  private readonly providers = new LRUCache<string, ProviderKeys>({ max: MAX_PROVIDERS });

  constructor(
    @Inject(SETTINGS) private readonly settings: RunningConfig,
    private readonly egress: Egress,
  ) {}

  /**
   * Verifies a token's signature and claims, and returns the claims.
   * @param timeoutMs the remaining wait of its request.
   * @throws Problem `invalid_token`, `token_expired` or `provider_unavailable`.
   */
  async verify(
    { token, sha256, ...jws }: UnverifiedToken,
    source: TokenSource,
    timeoutMs: number,
  ): Promise<AccessTokenClaims> {
    const sourceText = JSON.stringify(source);
    const known = this.verified.get(sha256);
    if (known?.source === sourceText) {
      if (isExpired(known.claims)) throw expiredToken();
      return known.claims;
    }
    const claims = checkAccessToken(jws, source);
    const keys = await this.keysOf(source).keysFor(jws.header as JWTHeaderParameters, timeoutMs);
    const attempts = keys.map((key) => compactVerify(token, key, { algorithms: [...source.algorithms] }));
    await Promise.any(attempts).catch(() => {
      throw invalidToken('its signature does not match the key of the provider');
    });
    this.verified.set(sha256, { claims, source: sourceText });
    return claims;
  }

  private keysOf({ jwksUri }: TokenSource): ProviderKeys {
    const known = this.providers.get(jwksUri);
    if (known) return known;
    const keys = new ProviderKeys(jwksUri, this.settings.providerKeysMaxAgeSeconds * 1_000, this.egress);
    this.providers.set(jwksUri, keys);
    return keys;
  }
}

function isExpired({ expiresAt }: AccessTokenClaims): boolean {
  return expiresAt <= clock.nowMs() / 1_000;
}
