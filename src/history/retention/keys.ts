import { Client } from 'pg';
import { Contact } from '../../recipients/recipient';
import { idsWhere, Source } from './bodies';
import { spelledIn } from './person';

/** Calls whose idempotency keys name a person. */
export interface NamingKeys {
  /** Calls with a key of their request. */
  requests: string[];
  /** Calls with a key of their refusal. */
  refusals: string[];
}

const text = (key: string) => `convert_to(coalesce(${key}, ''), 'UTF8')`;

/** Tables with keys. Erased keys have no salt. */
const ERASABLE_KEYS = {
  requests: {
    table: 'intent_body',
    key: 'intent_id',
    bytes: text('CASE WHEN idempotency_key_salt IS NOT NULL THEN idempotency_key END'),
  },
  refusals: {
    table: 'refusal_key',
    key: 'refusal_id',
    bytes: text('CASE WHEN salt IS NOT NULL THEN key END'),
  },
} as const;

/** Finds idempotency keys that contain the person's contact in any spelling: `order-254712345678`. */
export async function keysNaming(db: Client, person: Contact): Promise<NamingKeys> {
  const test = spelledIn(person);
  const find = (source: Source) => idsWhere(db, source, test, () => undefined);
  return { requests: await find(ERASABLE_KEYS.requests), refusals: await find(ERASABLE_KEYS.refusals) };
}

/**
 * Removes the texts and salts of keys. Their hashes stay, so the keys remain taken and searchable.
 * @returns the emptied places.
 */
export async function eraseKeys(db: Client, requests: string[], refusals: string[]): Promise<string[]> {
  await db.query(
    `UPDATE intent_body SET idempotency_key = hashed_key(idempotency_key), idempotency_key_salt = NULL
     WHERE intent_id = ANY ($1::uuid[])`,
    [requests],
  );
  await db.query(
    'UPDATE refusal_key SET key = hashed_key(key), salt = NULL WHERE refusal_id = ANY ($1::uuid[])',
    [refusals],
  );
  await hashKeysOfClaims(db, { sql: 'intent_id = ANY ($1::uuid[])', values: [requests] });
  return [...new Set([...requests, ...refusals])].map((id) => `idempotency_key/${id}`);
}

/** A condition on rows of a table. */
export interface Condition {
  sql: string;
  values: unknown[];
}

/** Replaces the keys of claims by their hashes. */
export async function hashKeysOfClaims(db: Client, { sql, values }: Condition): Promise<void> {
  const isText = `${sql} AND strpos(key, 'sha256 ') = 0`;
  // A request may have claimed the key again while an earlier erasure hashed it.
  await db.query(
    `DELETE FROM idempotency_claim h
     USING (SELECT client_id, operation, key FROM idempotency_claim WHERE ${isText}) AS t
     WHERE (h.client_id, h.operation, h.key) = (t.client_id, t.operation, hashed_key(t.key))`,
    values,
  );
  await db.query(`UPDATE idempotency_claim SET key = hashed_key(key) WHERE ${isText}`, values);
}
