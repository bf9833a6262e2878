import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Prisma } from '../database/generated/client';
import { PrismaService } from '../database/prisma.service';
import { isUuid } from '../database/uuid';
import { hashKey, newKey } from './key';
import { allowedOperations } from './operations';
import { isScope, SCOPES } from './scopes';

/** A wish of the operator that cannot be: the message says what to do instead. */
export class ClientError extends Error {}

export interface IssuedKey {
  id: string;
  /** The client's name. */
  name: string;
  /** The only time the key itself is seen. */
  key: string;
}

/** What a client may do. */
export interface Grants {
  scopes: string[];
  /** Names of the interface's operations; null: all of them. The caller has checked that there are such. */
  operations: string[] | null;
}

export interface ListedClient extends Grants {
  id: string;
  name: string;
  created_at: Date;
  active_keys: number;
}

/** Client apps and their keys. */
@Injectable()
export class ClientsService {
  constructor(private readonly prisma: PrismaService) {}

  /** Makes a client with its first key; `id` is the client's. */
  async create(name: string, scopes: string[], operations: string[] | null = null): Promise<IssuedKey> {
    if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name)) {
      throw new ClientError('a client name is 1 to 40 lower-case letters, digits and dashes, and begins with no dash');
    }
    check({ scopes, operations });
    if (await this.prisma.client.findUnique({ where: { name } })) {
      throw new ClientError(`there is a client ${name} already; give it another key with keys issue`);
    }
    const id = uuidv7();
    const key = newKey(name);
    await this.prisma.client.create({
      data: { id, name, scopes: [...new Set(scopes)], ...(operations && { operations }), keys: { create: toRow(key) } },
    });
    return { id, name, key };
  }

  /** Changes what a client may do; what is left out stays. From its commit on it holds on every instance. */
  async update(name: string, change: Partial<Grants>): Promise<ListedClient> {
    const { scopes, operations } = { ...(await this.find(name)), ...change };
    check({ scopes, operations });
    // Not by Prisma's own update, which cannot write a list that is null.
    await this.prisma.$executeRaw`
      UPDATE client SET scopes = ${[...new Set(scopes)]}::text[], operations = ${operations}::text[] WHERE name = ${name}`;
    return this.find(name);
  }

  async find(name: string): Promise<ListedClient> {
    const client = await this.prisma.client.findUnique({ where: { name }, include: { keys: true } });
    if (!client) throw noClient(name);
    return listed(client, new Date());
  }

  async list(): Promise<ListedClient[]> {
    const clients = await this.prisma.client.findMany({ include: { keys: true }, orderBy: { name: 'asc' } });
    const now = new Date();
    return clients.map((client) => listed(client, now));
  }

  /** One more key for a client, so that a rotation can overlap; `id` is the key's. */
  async issueKey(name: string, expiresAt?: Date): Promise<IssuedKey> {
    const client = await this.prisma.client.findUnique({ where: { name } });
    if (!client) throw noClient(name);
    const key = newKey(name);
    const { id } = await this.prisma.apiKey.create({ data: { ...toRow(key, expiresAt), clientId: client.id } });
    return { id, name, key };
  }

  async listKeys(clientName?: string) {
    const keys = await this.prisma.apiKey.findMany({
      ...(clientName !== undefined && { where: { client: { name: clientName } } }),
      include: { client: true },
      orderBy: { id: 'asc' },
    });
    const now = new Date();
    return keys.map((key) => ({
      id: key.id,
      client: key.client.name,
      hint: `pp_${key.client.name}_…${key.hint}`,
      state: stateOf(key, now),
      created_at: key.createdAt,
      expires_at: key.expiresAt,
      revoked_at: key.revokedAt,
      last_used_at: key.lastUsedAt,
    }));
  }

  /** From its commit on no instance takes the key: each request asks the database. */
  async revokeKey(id: string): Promise<{ id: string; revoked_at: Date }> {
    const key = isUuid(id) ? await this.prisma.apiKey.findUnique({ where: { id } }) : null;
    if (!key) throw new ClientError(`there is no key with the id ${id}; keys list shows them`);
    const revokedAt = key.revokedAt ?? new Date();
    await this.prisma.apiKey.update({ where: { id }, data: { revokedAt } });
    return { id, revoked_at: revokedAt };
  }
}

/** @throws ClientError for a client that could do nothing, or something there is not. */
function check({ scopes, operations }: Grants): void {
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (unknown.length > 0 || scopes.length === 0) {
    throw new ClientError(`unknown scopes: ${unknown.join(', ') || '(none given)'}; there are ${SCOPES.join(', ')}`);
  }
  if (operations?.length === 0) {
    throw new ClientError('that leaves the client no operation; to shut it out, revoke its keys with keys revoke');
  }
}

function noClient(name: string): ClientError {
  return new ClientError(`there is no client ${name}; clients list shows them`);
}

function listed(client: Prisma.ClientGetPayload<{ include: { keys: true } }>, now: Date): ListedClient {
  const { id, name, scopes, createdAt, keys } = client;
  return {
    id,
    name,
    scopes,
    operations: allowedOperations(client),
    created_at: createdAt,
    active_keys: keys.filter((key) => stateOf(key, now) === 'active').length,
  };
}

/** What is kept of a key. */
function toRow(key: string, expiresAt?: Date) {
  return { id: uuidv7(), sha256: new Uint8Array(hashKey(key)), hint: key.slice(-4), expiresAt: expiresAt ?? null };
}

function stateOf(key: { revokedAt: Date | null; expiresAt: Date | null }, now: Date): 'active' | 'revoked' | 'expired' {
  if (key.revokedAt) return 'revoked';
  return key.expiresAt && key.expiresAt <= now ? 'expired' : 'active';
}
