import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Database } from '../database';
import { Account } from '../generated/client';

/**
 * Returns the account whose key the request carries, or null for an invalid key (docs/reference/upstream.md,
 * "Requests"). Node lower-cases header names, so any case works. The key is looked up by its hash, so the time of the
 * lookup reveals nothing about the key.
 */
export async function authenticate(database: Database, request: FastifyRequest): Promise<Account | null> {
  const key = request.headers['x-api-key'];
  return typeof key === 'string' ? database.account.findUnique({ where: { apiKeyHash: hashKey(key) } }) : null;
}

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
