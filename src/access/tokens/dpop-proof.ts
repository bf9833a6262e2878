import { hash } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, CryptoKey, importJWK, JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { clock } from '../../platform/database/clock';
import { isObject } from '../../platform/json/is-object';
import { CompactJws, invalidProof, PROOF_ALGORITHMS, readCompactJws } from './refusals';
import { OneTimeToken } from './used-proofs.service';

/** Validity of a proof before and after its `iat`. Clocks of phones differ by minutes. */
const PROOF_WINDOW_SECONDS = 300;

/** Cache size. Above the number of apps online at once. */
const MAX_KNOWN = 10_000;

/** The request of a proof. */
export interface ProvenRequest {
  method: string;
  /** The app's URL. Query and fragment are ignored. */
  url: string;
  /** The access token of the request. */
  token: string;
  /** Thumbprint of the token's bound key. */
  jkt: string;
}

/** The public key in the header of a proof. */
interface ProofKey {
  key: CryptoKey;
  jkt: string;
}

/** Keys by the encoded header, which is the same in all proofs of an app. */
const known = new LRUCache<string, ProofKey>({ max: MAX_KNOWN });

/**
 * Verifies that the sender of a request has the key of its bound access token (RFC 9449, section 4.3).
 * @returns the proof's key and `jti`, to be checked for replay.
 * @throws Problem `invalid_dpop_proof`
 */
export async function checkProof(text: string, request: ProvenRequest): Promise<OneTimeToken> {
  const jws = readCompactJws(text);
  if (!jws) throw invalidProof('it is not one JWT in the compact form');
  const { jti, iat } = checkClaims(jws, request);
  const proofKey = known.get(jws.encodedHeader) ?? (await readKey(jws));
  const { key, jkt } = proofKey;
  if (jkt !== request.jkt)
    throw invalidProof('its key is not the one that the access token is bound to (cnf.jkt)');
  try {
    await compactVerify(text, key, { algorithms: [...PROOF_ALGORITHMS] });
  } catch {
    throw invalidProof('its signature does not match its key');
  }
  known.set(jws.encodedHeader, proofKey);
  return { sha256: hash('sha256', `${jkt} ${jti}`, 'buffer'), countsUntil: iat + PROOF_WINDOW_SECONDS };
}

function checkClaims(
  { payload }: CompactJws,
  { method, url, token }: ProvenRequest,
): { jti: string; iat: number } {
  const { htm, htu, iat, jti, ath } = payload;
  if (htm !== method) throw invalidProof('it was made for another method (htm)');
  if (
    typeof htu !== 'string' ||
    urlWithoutQuery(htu) === undefined ||
    urlWithoutQuery(htu) !== urlWithoutQuery(url)
  ) {
    throw invalidProof('it was made for another address (htu)');
  }
  if (ath !== hash('sha256', token, 'base64url'))
    throw invalidProof('it was made for another access token (ath)');
  if (typeof jti !== 'string' || jti === '') throw invalidProof('it has no ID (jti)');
  if (typeof iat !== 'number' || Math.abs(clock.nowMs() / 1_000 - iat) > PROOF_WINDOW_SECONDS) {
    throw invalidProof('its time (iat) differs from the current time by more than five minutes');
  }
  return { jti, iat };
}

/** Returns the normalized URL without query and fragment. Undefined if invalid. */
function urlWithoutQuery(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

async function readKey({ header }: CompactJws): Promise<ProofKey> {
  const { typ, alg, jwk, crit } = header;
  if (typ !== 'dpop+jwt') throw invalidProof('its type (typ) is not dpop+jwt');
  if (crit !== undefined)
    throw invalidProof('it requires extensions (crit), which this API does not support');
  if (!PROOF_ALGORITHMS.some((algorithm) => algorithm === alg)) {
    throw invalidProof(`its signature algorithm (alg) must be one of ${PROOF_ALGORITHMS.join(', ')}`);
  }
  const key = isPublic(jwk) ? await importKey(jwk, String(alg)) : undefined;
  if (!key)
    throw invalidProof('its header must have a public key for its algorithm (jwk), and no private one');
  return key;
}

function isPublic(jwk: unknown): jwk is JWK {
  return isObject(jwk) && ['EC', 'RSA', 'OKP'].includes(String(jwk.kty)) && jwk.d === undefined;
}

async function importKey(jwk: JWK, alg: string): Promise<ProofKey | undefined> {
  try {
    const key = await importJWK(jwk, alg);
    return key instanceof Uint8Array ? undefined : { key, jkt: await calculateJwkThumbprint(jwk) };
  } catch {
    return undefined;
  }
}
