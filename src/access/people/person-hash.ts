import { hash } from 'node:crypto';

/**
 * Returns the hash that identifies a person of a client. It includes the client, so that the people of two clients cannot
 * be compared.
 * @param issuer the issuer of the person's tokens. Null if the client names the person.
 */
export function personHash(clientId: string, issuer: string | null, name: string): Buffer {
  return hash('sha256', JSON.stringify(['person', clientId, issuer, name]), 'buffer');
}
