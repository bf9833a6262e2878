import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Database } from '../database';
import { Account } from '../generated/client';
import { Refusal } from '../http/envelope';
import { isObject } from '../http/rules';

/** An account that acts: the owner of a key, which has no parent, or one of its sub-accounts. */
export type Owner = Pick<Account, 'id' | 'parentId'>;

/** Returns the hash of a request's key, so that the duration of its look-up reveals nothing about the key. */
export function keyHashOf(request: FastifyRequest): string | null {
  const key = request.headers['x-api-key'];
  return typeof key === 'string' ? hashKey(key) : null;
}

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

// Postgres cannot store every text, so only IDs are looked up.
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns the acting account: `owner`, or its sub-account in the `subAccount` of the first of `sources` that
 * has this field (docs/reference/upstream.md, "Sub-accounts").
 * @throws Refusal for any other value, because a typing error must not spend the money of the account.
 */
export async function actingAccount(database: Database, owner: Owner, sources: unknown[]): Promise<Owner> {
  const fields = sources.filter(isObject).find((source) => Object.hasOwn(source, 'subAccount'));
  if (!fields) return owner;
  const id = fields.subAccount;
  const isId = typeof id === 'string' && ID.test(id);
  const found = isId ? await database.account.findUnique({ where: { id, parentId: owner.id } }) : null;
  if (!found) throw new Refusal(`Account with id ${textOf(id)} not found`);
  return found;
}

/** Returns only the type of an object or array, because its conversion to text may fail. */
function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? typeof value : String(value);
}
