/** State of an ephemeral key. A key whose parent or person was revoked is `revoked`. */
export const EPHEMERAL_KEY_STATES = ['active', 'expired', 'revoked'] as const;
export type EphemeralKeyState = (typeof EPHEMERAL_KEY_STATES)[number];

/**
 * SQL: the state of an ephemeral key `e` with its parent `k` (api_key) and its person `p`, by the database's
 * clock. The key is revoked with its parent or its person, and never outlives its parent.
 */
export const STATE = `CASE
    WHEN e.revoked_at IS NOT NULL OR k.revoked_at IS NOT NULL
      OR p.revoked_at >= e.created_at OR p.name IS NULL THEN 'revoked'
    WHEN least(e.expires_at, k.expires_at) <= now() THEN 'expired'
    ELSE 'active' END`;

/** SQL: whether a key is active. The redundant conditions let an index find the few active keys. */
export const IS_ACTIVE = `e.revoked_at IS NULL AND now() < e.expires_at AND ${STATE} = 'active'`;

export const WITH_PARENT_AND_PERSON =
  'ephemeral_key e JOIN api_key k ON k.id = e.key_id JOIN person p ON p.id = e.person_id';
