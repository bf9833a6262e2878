import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { Scope } from '../../../src/operations/catalogue/scopes';
import { TestDatabase } from '../databases/test-database';
import { TokenIssuer } from './token-issuer';

export interface TokenClient {
  id: string;
  name: string;
  /** Internal key of the provider. Revoking it ends all tokens. */
  providerKeyId: string;
}

type Provider = Pick<TokenIssuer, 'issuer' | 'audience' | 'clientId' | 'jwksUri'> & { algorithms?: string[] };

/** Creates a client that accepts tokens of a provider, without a secret key. */
export async function createTokenClient(
  database: Pick<TestDatabase, 'query'>,
  name: string,
  { issuer, audience, clientId, jwksUri, algorithms = ['ES256'] }: Provider,
  { scopes = ['pay', 'write', 'read'] as Scope[], dpop = false } = {},
): Promise<TokenClient> {
  const [id, providerKeyId] = [uuidv7(), uuidv7()];
  await database.query(
    `INSERT INTO client (id, name, kind, scopes, token_issuer, token_audience, token_jwks_uri,
       token_algorithms, token_client_id, token_dpop)
     VALUES ($1, $2, 'public', $3, $4, $5, $6, $7, $8, $9)`,
    [id, name, scopes, issuer, audience, jwksUri, algorithms, clientId, dpop],
  );
  await database.query(
    "INSERT INTO api_key (id, client_id, kind, sha256, hint) VALUES ($1, $2, 'provider', $3, 'none')",
    [providerKeyId, id, randomBytes(32)],
  );
  return { id, name, providerKeyId };
}
