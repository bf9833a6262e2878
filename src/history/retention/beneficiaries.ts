import { Client } from 'pg';
import { beneficiaryKey } from '../../access/clients/beneficiary';
import { Person } from './person';

/**
 * Erases a person from the registers of all clients. An entry that allows the person is removed. An entry that blocks them
 * loses its mask and keeps its hash, because a person could otherwise lift the block by asking to be erased.
 * @returns the places that were emptied: `beneficiary/<id>`.
 */
export async function eraseBeneficiaries(db: Client, { kind, value: name }: Person): Promise<string[]> {
  const clients = await db.query<{ id: string }>('SELECT id FROM client');
  const keys = clients.rows.map(({ id }) => beneficiaryKey(id, { kind, name }));
  const gone = await db.query<{ id: string }>(
    `WITH allowed AS (
       DELETE FROM beneficiary WHERE list = 'allowed' AND recipient = ANY ($1::bytea[]) RETURNING id
     ), blocked AS (
       UPDATE beneficiary SET masked = NULL WHERE list = 'blocked' AND masked IS NOT NULL AND recipient = ANY ($1::bytea[])
       RETURNING id
     ) SELECT id FROM allowed UNION ALL SELECT id FROM blocked`,
    [keys],
  );
  return gone.rows.map(({ id }) => `beneficiary/${id}`);
}
