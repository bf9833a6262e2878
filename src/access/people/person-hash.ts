import { hash } from 'node:crypto';

/**
 * Returns SHA-256 of a person, by which the table finds the row. It stays when the name is erased, so that a person keeps what
 * was spent today.
 * @param issuer of the person's tokens. Null if the client names the person.
 */
export function personHash(clientId: string, issuer: string | null, name: string): Buffer {
  return hash('sha256', JSON.stringify(['person', clientId, issuer, name]), 'buffer');
}
