import { hash } from 'node:crypto';

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
