import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Database } from '../database';
import { Refusal } from '../envelope';
import { Account } from '../generated/client';

/**
 * The account whose key the request carries; interface.md, Authentication. Node lower-cases header names, so any case does.
 * The key is looked up by its hash: how long that takes says nothing about the key.
 */
export async function authenticate(database: Database, request: FastifyRequest): Promise<Account> {
  const key = request.headers['x-api-key'];
  const account =
    typeof key === 'string' ? await database.account.findUnique({ where: { apiKeyHash: hashKey(key) } }) : null;
  if (!account) throw new Refusal('key is not defined. Generate a new one from the developer portal', 401);
  return account;
}

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
