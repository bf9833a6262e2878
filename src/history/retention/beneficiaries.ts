import { Client } from 'pg';
import { beneficiaryHash } from '../../access/clients/register-writes';
import { LOCKS } from '../../platform/database/locks';
import { Contact } from '../../recipients/recipient';

/**
 * Erases a person from the registers of all clients. Removes an entry that allows the person. An entry that
 * blocks the person loses its mask and keeps its hash: otherwise an erasure would lift the block. Changes of
 * registers, decided or not, and ephemeral keys lose the person as well.
 * @returns the emptied places: `beneficiary/<id>`, `pending_change/<id>` and `ephemeral_key/<id>`.
 */
export async function eraseBeneficiaries(db: Client, { key }: Contact): Promise<string[]> {
  // A concurrent approval of a change could add the person again.
  await db.query('SELECT pg_advisory_xact_lock($1)', [LOCKS.change]);
  const clients = await db.query<{ id: string }>('SELECT id FROM client');
  const keys = clients.rows.map(({ id }) => beneficiaryHash(id, key));
  const gone = await db.query<{ id: string }>(
    `WITH allowed AS (
       DELETE FROM beneficiary WHERE list = 'allowed' AND recipient = ANY ($1::bytea[]) RETURNING id
     ), blocked AS (
       UPDATE beneficiary SET masked = NULL WHERE list = 'blocked' AND masked IS NOT NULL
         AND recipient = ANY ($1::bytea[])
       RETURNING id
     ) SELECT id FROM allowed UNION ALL SELECT id FROM blocked`,
    [keys],
  );
  const changes = await eraseFromChanges(db, keys);
  const ephemeral = await eraseFromEphemeralKeys(db, keys);
  return [
    ...gone.rows.map(({ id }) => `beneficiary/${id}`),
    ...changes.map((id) => `pending_change/${id}`),
    ...ephemeral.map((id) => `ephemeral_key/${id}`),
  ];
}

/**
 * Erases the person from ephemeral keys. A key for this person alone can then pay no one.
 * @returns the IDs of these keys.
 */
async function eraseFromEphemeralKeys(db: Client, keys: Buffer[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `UPDATE ephemeral_key SET recipients = ARRAY(
       SELECT one FROM unnest(recipients) AS one WHERE one <> ALL ($1::bytea[]))
     WHERE recipients && $1::bytea[] RETURNING id`,
    [keys],
  );
  return rows.map(({ id }) => id);
}

/** @returns the IDs of the changes that named the person. */
async function eraseFromChanges(db: Client, keys: Buffer[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `UPDATE pending_change SET change = jsonb_set(change::jsonb, '{register,recipients}', (
       SELECT jsonb_agg(
         CASE WHEN one->>'recipient' = ANY ($1::text[]) THEN one || $2::jsonb ELSE one END ORDER BY place)
       FROM jsonb_array_elements(change::jsonb #> '{register,recipients}')
         WITH ORDINALITY AS e(one, place)))::text
     WHERE EXISTS (
       SELECT FROM jsonb_array_elements(change::jsonb #> '{register,recipients}') AS e(one)
       WHERE one->>'recipient' = ANY ($1::text[]))
     RETURNING id`,
    [keys.map((key) => key.toString('hex')), JSON.stringify({ recipient: null, masked: null })],
  );
  return rows.map(({ id }) => id);
}
