import { hash } from 'node:crypto';
import {
  Limits,
  LimitsRow,
  OWN_LIMITS,
  OwnLimitKey,
  PersonLimitKey,
  readLimits,
} from '../clients/limits/limits';

/**
 * Proof of a request's person: an access token, an ephemeral key, a page session, a personal key, or only the
 * claim of the caller (`X-Actor`).
 */
export const ACTOR_SOURCES = ['token', 'ephemeral', 'session', 'key', 'claimed'] as const;
type ActorSource = (typeof ACTOR_SOURCES)[number];

/** Sources of end users: personal credentials for a phone or a page. */
const END_USER_SOURCES = ['token', 'ephemeral', 'session'] as const satisfies ActorSource[];

/** The owner of a caller's credential, as named by the credential. */
export interface Identity {
  source: Exclude<ActorSource, 'claimed'>;
  /** The issuer of the person's tokens. Null if the client names the person. */
  issuer: string | null;
  name: string;
}

/**
 * Limits of one person: own limits, or else the client's. Null means no limit. Admission rereads the caps.
 */
export type PersonLimits = Pick<Limits, PersonLimitKey>;

/** Own limits of one person. Null applies the client's limit. */
export type OwnLimits = Pick<Limits, OwnLimitKey>;

export const OWN_LIMIT_KEYS = OWN_LIMITS.map(([own]) => own);

/** Returns the effective limits of one person from its row and the limits of its client. */
export function personLimitsOf(row: LimitsRow<OwnLimitKey>, ofClient: PersonLimits): PersonLimits {
  const own = readLimits(row, OWN_LIMIT_KEYS);
  return Object.fromEntries(
    OWN_LIMITS.map(([key, of]) => [of, own[key] ?? ofClient[of]]),
  ) as unknown as PersonLimits;
}

/** A person on whose behalf a client calls. */
export interface Person {
  id: string;
  /** See `personHash`. */
  sha256: Buffer;
  /** The subject of a token, or the client's name for the person. */
  name: string;
  /** Salt of the commitment. A person who returns after an erasure gets a new one. */
  salt: Buffer;
  /** SHA-256(salt || name), stored in records. */
  commitment: Buffer;
  limits: PersonLimits;
}

/** The person of a call. */
export interface CallPerson extends Person {
  source: ActorSource;
  /** The actor of the token, who acts for the person (RFC 8693, section 4.1). */
  acting?: Pick<Person, 'id' | 'commitment'> | undefined;
}

/**
 * Returns whether the person is proven, and reaches only their own calls. A shared key reaches the calls of
 * every person that its client names.
 */
export function isProven({ source }: CallPerson): boolean {
  return source !== 'claimed';
}

/**
 * Returns whether a person has their own namespace of idempotency keys and contents. A server has one
 * namespace for all people that it names.
 */
export function isEndUser({ source }: { source: string | undefined }): boolean {
  return END_USER_SOURCES.some((endUserSource) => endUserSource === source);
}

/** Retention of a nameless person's hash. Above that of caps and idempotency keys. */
export const FORGOTTEN_AFTER = '31 days';

/**
 * Returns the hash that identifies a person of a client. It includes the client, so people of different
 * clients are incomparable.
 * @param issuer the issuer of the person's tokens. Null if the client names the person.
 */
export function personHash(clientId: string, issuer: string | null, name: string): Buffer {
  return hash('sha256', `${BEFORE_CLIENT}${clientId}${afterClient(issuer, name)}`, 'buffer');
}

/** Prefix of the hashed text, the JSON of `["person", client, issuer, name]`. */
const BEFORE_CLIENT = '["person","';

/** Returns the rest of the hashed text after the client. */
export function afterClient(issuer: string | null, name: string): string {
  return `",${JSON.stringify(issuer)},${JSON.stringify(name)}]`;
}

/**
 * Returns `personHash` as SQL, for a client that only the statement knows.
 * @param after see {@link afterClient}.
 */
export const personHashSql = (clientId: string, after: string) =>
  `sha256(convert_to('${BEFORE_CLIENT}' || ${clientId}::text || ${after}, 'UTF8'))`;
