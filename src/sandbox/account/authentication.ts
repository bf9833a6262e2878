import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Database } from '../database';
import { Account } from '../generated/client';

/**
 * The account whose key the request carries, null for a key that is none; docs/reference/upstream.md, "Requests". Node lower-cases
 * header names, so any case does. The key is looked up by its hash: how long that takes says nothing about the key.
 */
export async function authenticate(database: Database, request: FastifyRequest): Promise<Account | null> {
  const key = request.headers['x-api-key'];
  return typeof key === 'string' ? database.account.findUnique({ where: { apiKeyHash: hashKey(key) } }) : null;
}

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
