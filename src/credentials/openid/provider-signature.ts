import { CryptoKey, JWTHeaderParameters } from 'jose';
import { readCompactJws } from '../../access/tokens/compact-jws';
import { ProviderKeys } from '../../access/tokens/provider-keys';
import { Problem } from '../../platform/errors/problem';
import { SignInFailure } from './sign-in-failure';

/** How long a sign-in, or a sign-out, waits for the keys. */
const PATIENCE_MS = 5_000;

/**
 * Verifies a token of a provider by the keys that it may be signed with.
 * @param verify rejects if the key does not fit.
 * @throws SignInFailure `unreachable` if the keys cannot be read, and `invalid` if none of them fits.
 */
export async function verifyWith<Verified>(
  keys: ProviderKeys,
  token: string,
  verify: (key: CryptoKey) => Promise<Verified>,
): Promise<Verified> {
  const jws = readCompactJws(token);
  if (jws === undefined) throw new SignInFailure('invalid');
  const fitting = await keys.keysFor(jws.header as JWTHeaderParameters, PATIENCE_MS).catch((error: unknown) => {
    const isUnread = error instanceof Problem && error.code === 'provider_unavailable';
    throw new SignInFailure(isUnread ? 'unreachable' : 'invalid', undefined, error);
  });
  return Promise.any(fitting.map(verify)).catch((error: unknown) => {
    throw new SignInFailure('invalid', undefined, error);
  });
}
