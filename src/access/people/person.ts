import { hash } from 'node:crypto';
import { Limits, LimitsRow, OWN_LIMITS, OwnLimitKey, PersonLimitKey, readLimits } from '../clients/limits/limits';

/**
 * How it is known on whose behalf a request is made: by an access token, by an ephemeral key, by a page session, by the owner of
 * a personal key, or only because the caller says so (`X-Actor`).
 */
export const ACTOR_SOURCES = ['token', 'ephemeral', 'session', 'key', 'claimed'] as const;
type ActorSource = (typeof ACTOR_SOURCES)[number];

/** The sources of end users: their credential is theirs alone, and was made for a phone or a page. */
const END_USER_SOURCES = ['token', 'ephemeral', 'session'] as const satisfies ActorSource[];

/** The person whose credential a caller has, as the credential names them. */
export interface Identity {
  source: Exclude<ActorSource, 'claimed'>;
  /** Of the person's tokens. Null if the client names the person. */
  issuer: string | null;
  name: string;
}

/** The limits of one person: the person's own, or otherwise the client's. Null means no limit. Admission reads the caps again. */
export type PersonLimits = Pick<Limits, PersonLimitKey>;

/** The limits that one person has instead of the client's. Null: the client's. */
export type OwnLimits = Pick<Limits, OwnLimitKey>;

export const OWN_LIMIT_KEYS = OWN_LIMITS.map(([own]) => own);

/** Returns the limits of one person from the row of the person, and those of the client that has the person. */
export function personLimitsOf(row: LimitsRow<OwnLimitKey>, ofClient: PersonLimits): PersonLimits {
  const own = readLimits(row, OWN_LIMIT_KEYS);
  return Object.fromEntries(OWN_LIMITS.map(([key, of]) => [of, own[key] ?? ofClient[of]])) as unknown as PersonLimits;
}

/** A person on whose behalf a client calls. */
export interface Person {
  id: string;
  /** See `personHash`. */
  sha256: Buffer;
  /** The subject of a token, or the name that the client uses. */
  name: string;
  /** Of the commitment. A person who was erased and calls again has another one. */
  salt: Buffer;
  /** SHA-256(salt || name), which records hold. */
  commitment: Buffer;
  limits: PersonLimits;
}

/** The person who requests something. */
export interface CallPerson extends Person {
  source: ActorSource;
  /** Who acts for the person, according to the token (RFC 8693). */
  acting?: Pick<Person, 'id' | 'commitment'> | undefined;
}

/** The person in the record of a call. Records of earlier programs have the name instead of the ID. */
export interface RecordedPerson {
  personId: string | null;
  actor: string | null;
}

/** Returns whether a call is one of a person. */
export function isOf({ personId, actor }: RecordedPerson, { id, name }: Pick<Person, 'id' | 'name'>): boolean {
  return personId === null ? actor === name : personId === id;
}

/**
 * Returns whether only this person may have a call's object. The holder of a shared key has those of every person whom the
 * key's client names.
 */
export function isProven({ source }: CallPerson): boolean {
  return source !== 'claimed';
}

/**
 * Returns whether a person has idempotency keys and contents of their own. The credential is the person's, so the key of another
 * person is another key. The requests of a server share them, whoever it names.
 */
export function isEndUser({ source }: { source: string | undefined }): boolean {
  return END_USER_SOURCES.some((one) => one === source);
}

/** How long the hash of a person without a name stays: no cap and no idempotency key is promised for longer. */
export const FORGOTTEN_AFTER = '31 days';

/**
 * Returns the hash that identifies a person of a client. It includes the client, so that the people of two clients cannot
 * be compared.
 * @param issuer the issuer of the person's tokens. Null if the client names the person.
 */
export function personHash(clientId: string, issuer: string | null, name: string): Buffer {
  return hash('sha256', `${BEFORE_CLIENT}${clientId}${afterClient(issuer, name)}`, 'buffer');
}

/** The text that is hashed is the JSON of `["person", client, issuer, name]`. */
const BEFORE_CLIENT = '["person","';

/** Returns what follows the client in the text that is hashed. */
export function afterClient(issuer: string | null, name: string): string {
  return `",${JSON.stringify(issuer)},${JSON.stringify(name)}]`;
}

/** The same hash in SQL, for a client that only the statement knows. @param after see {@link afterClient}. */
export const personHashSql = (clientId: string, after: string) =>
  `sha256(convert_to('${BEFORE_CLIENT}' || ${clientId}::text || ${after}, 'UTF8'))`;
