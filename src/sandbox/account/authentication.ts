import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Database } from '../database';
import { Account } from '../generated/client';
import { Refusal } from '../http/envelope';
import { isObject } from '../http/rules';

/**
 * Returns the account whose key the request carries, or null for an invalid key (docs/reference/upstream.md,
 * "Requests"). Node lower-cases header names, so any case works. The key is looked up by its hash, so the
 * time of the lookup reveals nothing about the key.
 */
export async function authenticate(database: Database, request: FastifyRequest): Promise<Account | null> {
  const key = request.headers['x-api-key'];
  return typeof key === 'string'
    ? database.account.findUnique({ where: { apiKeyHash: hashKey(key) } })
    : null;
}

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

// Other text is never looked up, because Postgres cannot store every text.
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns the account that carries a request out: the account of its key, or the sub-account of it that the
 * first of `sources` with a field `subAccount` names (docs/reference/upstream.md, "Sub-accounts").
 * @throws Refusal if the field has any other value. A typing error must not spend the money of the account.
 */
export async function actingAccount(
  database: Database,
  owner: Account,
  sources: unknown[],
): Promise<Account> {
  const fields = sources.filter(isObject).find((source) => Object.hasOwn(source, 'subAccount'));
  if (!fields) return owner;
  const id = fields.subAccount;
  const isId = typeof id === 'string' && ID.test(id);
  const found = isId ? await database.account.findUnique({ where: { id, parentId: owner.id } }) : null;
  if (!found) throw new Refusal(`Account with id ${textOf(id)} not found`);
  return found;
}

/** Returns only the kind of an object or array, because turning one into text may fail. */
function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? typeof value : String(value);
}
