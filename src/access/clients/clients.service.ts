import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { clock } from '../../platform/database/clock';
import { newId } from '../../platform/database/ids';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/side-prisma';
import { isUuid } from '../../platform/database/uuid';
import { AT_START, ChangeAuthor, ChangeRecords, changesBetween, ClientChange, creationOf } from './changes';
import { ClientError } from './client-error';
import { hashKey, newKey } from './key';
import { LIMIT_FIELDS, LIMIT_KEYS } from './limit-fields';
import { Limits } from './limits';
import { hintOf, listedClient, ListedClient, listedKey, ListedKey } from './listed';
import { isPersonId } from './person';
import { isScope, SCOPES } from '../../operations/scopes';

interface IssuedKey {
  id: string;
  /** The client's name. */
  name: string;
  /** The key. It is available only once. */
  key: string;
}

/** The permissions of a client. */
interface Grants extends Limits {
  scopes: string[];
  /** Names of the interface's operations. Null for all of them. The caller has checked the names. */
  operations: string[] | null;
}

interface KeyOptions {
  /** The person who owns the key, if there is one. */
  person?: string | undefined;
  /** When the key expires. Undefined for never. */
  expiresAt?: Date | undefined;
}

export const CLIENT_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** How long a change waits for a connection, and then for rows that admissions have locked, in milliseconds. */
export const PATIENCE = { maxWait: 5_000, timeout: 10_000 };

/**
 * Manages client apps and their keys. Every change is recorded in the transaction that makes it, so no change happens
 * without its record. Without an author, the proxy itself makes the change at its start.
 */
@Injectable()
export class ClientsService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly changes: ChangeRecords,
  ) {}

  /**
   * Creates a client with its first key. `id` is the client's. Omitted limits do not apply.
   * @throws ClientError
   */
  async create(
    name: string,
    scopes: string[],
    { person, expiresAt, ...grants }: Partial<Omit<Grants, 'scopes'>> & KeyOptions = {},
    by: ChangeAuthor = AT_START,
  ): Promise<IssuedKey> {
    if (!CLIENT_NAME.test(name)) {
      throw new ClientError(
        'the client name must be 1 to 40 lowercase letters, digits, and hyphens, and must not begin with a hyphen',
      );
    }
    check({ scopes, ...grants });
    const { operations, ...limits } = grants;
    const key = newKey(name);
    const row = { id: newId(), name, scopes: [...new Set(scopes)], ...(operations && { operations }) };
    const keyRow = toRow(key, { person, expiresAt });
    try {
      await this.prisma.$transaction(async (tx) => {
        const data = { ...row, ...limits, keys: { create: keyRow } };
        const client = await tx.client.create({ data, include: { keys: true } });
        const created = creationOf(listedClient(client, clock.now()));
        await this.changes.record(tx, [created, issuanceOf(client, keyRow)], by);
      }, PATIENCE);
    } catch (error) {
      if (!(error instanceof Prisma.PrismaClientKnownRequestError) || error.code !== 'P2002') throw error;
      throw new ClientError(
        `the client ${name} already exists. To give it another key, use keys issue.`,
        'client_exists',
      );
    }
    return { id: row.id, name, key };
  }

  /**
   * Changes the permissions of a client. Omitted fields keep their value. Once committed, the change applies on every
   * instance.
   * @throws ClientError
   */
  async update(name: string, change: Partial<Grants>, by: ChangeAuthor = AT_START): Promise<ListedClient> {
    const client = await this.find(name);
    check(change);
    const assignments = toAssignments(change);
    if (assignments.length === 0) return client;
    return this.prisma.$transaction(async (tx) => {
      // Of two concurrent changes, the second starts from the result of the first.
      await tx.$executeRaw`SELECT FROM client WHERE name = ${name} FOR NO KEY UPDATE`;
      const before = await this.find(name, tx);
      // Prisma's own update cannot set a list to null.
      await tx.$executeRaw`UPDATE client SET ${Prisma.join(assignments)} WHERE name = ${name}`;
      const after = await this.find(name, tx);
      await this.changes.record(tx, changesBetween(before, after), by);
      return after;
    }, PATIENCE);
  }

  async find(name: string, tx: Prisma.TransactionClient = this.prisma): Promise<ListedClient> {
    const client = CLIENT_NAME.test(name)
      ? await tx.client.findUnique({ where: { name }, include: { keys: true } })
      : null;
    if (!client) throw noClient(name);
    return listedClient(client, clock.now());
  }

  async list(): Promise<ListedClient[]> {
    const clients = await this.prisma.client.findMany({ include: { keys: true }, orderBy: { name: 'asc' } });
    const now = clock.now();
    return clients.map((client) => listedClient(client, now));
  }

  /** Issues another key for a client, so that an app can rotate its keys without downtime. `id` is the key's. */
  async issueKey(name: string, options: KeyOptions = {}, by: ChangeAuthor = AT_START): Promise<IssuedKey> {
    const client = await this.find(name);
    const key = newKey(name);
    const row = toRow(key, options);
    await this.prisma.$transaction(async (tx) => {
      await tx.apiKey.create({ data: { ...row, clientId: client.id } });
      await this.changes.record(tx, [issuanceOf(client, row)], by);
    }, PATIENCE);
    return { id: row.id, name, key };
  }

  async listKeys(clientName?: string): Promise<ListedKey[]> {
    const keys = await this.prisma.apiKey.findMany({
      ...(clientName !== undefined && { where: { client: { name: clientName } } }),
      include: { client: true },
      orderBy: { id: 'asc' },
    });
    const now = clock.now();
    return keys.map((key) => listedKey(key, now));
  }

  /**
   * Revokes a key. Once committed, no instance accepts the key, because each request queries the database. Revoking it
   * again changes nothing.
   * @param clientName the client that must own the key. Undefined for any.
   */
  async revokeKey(
    id: string,
    clientName?: string,
    by: ChangeAuthor = AT_START,
  ): Promise<{ id: string; revoked_at: Date }> {
    return this.prisma.$transaction(async (tx) => {
      if (isUuid(id)) await tx.$executeRaw`SELECT FROM api_key WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
      const key = isUuid(id) ? await tx.apiKey.findUnique({ where: { id }, include: { client: true } }) : null;
      if (!key || (clientName !== undefined && key.client.name !== clientName)) {
        throw new ClientError(`no key has the ID ${id}. To list the keys, use keys list.`, 'key_not_found');
      }
      if (key.revokedAt) return { id, revoked_at: key.revokedAt };
      const revokedAt = clock.now();
      await tx.apiKey.update({ where: { id }, data: { revokedAt } });
      await this.changes.record(tx, [revocationOf(key, revokedAt)], by);
      return { id, revoked_at: revokedAt };
    }, PATIENCE);
  }
}

type KeyRow = Omit<Prisma.ApiKeyGetPayload<object>, 'clientId' | 'createdAt' | 'revokedAt' | 'lastUsedAt'>;

function issuanceOf({ id, name }: { id: string; name: string }, key: KeyRow): ClientChange {
  const after = { hint: hintOf(name, key), person: key.person, expires_at: key.expiresAt?.toISOString() ?? null };
  return { action: 'key_issued', client: { id, name }, keyId: key.id, before: null, after };
}

function revocationOf(key: KeyRow & { client: { id: string; name: string } }, revokedAt: Date): ClientChange {
  const { id, name } = key.client;
  const [before, after] = [{ revoked_at: null }, { revoked_at: revokedAt.toISOString() }];
  return { action: 'key_revoked', client: { id, name }, keyId: key.id, before, after };
}

/** @throws ClientError for a client that could do nothing, for unknown names, and for invalid limits. */
function check({ scopes, operations, ...limits }: Partial<Grants>): void {
  const unknown = scopes?.filter((scope) => !isScope(scope)) ?? [];
  if (unknown.length > 0 || scopes?.length === 0) {
    throw new ClientError(
      `unknown scopes: ${unknown.join(', ') || '(none given)'}. The scopes are ${SCOPES.join(', ')}.`,
    );
  }
  if (operations?.length === 0) {
    throw new ClientError(
      'a client must be allowed at least one operation. To shut a client out, revoke its keys with keys revoke.',
    );
  }
  const wrong = LIMIT_KEYS.filter((key) => limits[key] !== undefined && limits[key] !== null)
    .map((key) => ({ ...LIMIT_FIELDS[key], value: limits[key] }))
    .filter(({ test, value }) => !test(value));
  if (wrong.length > 0) throw new ClientError(wrong.map(({ name, must }) => `${name} ${must}`).join('; '));
}

/** Returns `column = value` for all given fields. */
function toAssignments({ scopes, operations, ...limits }: Partial<Grants>): Prisma.Sql[] {
  const ofLimits = LIMIT_KEYS.filter((key) => limits[key] !== undefined).map((key) => {
    const { name, column } = LIMIT_FIELDS[key];
    const value = limits[key];
    const written = value instanceof Decimal ? value.toFixed() : value;
    return Prisma.sql`${Prisma.raw(name)} = ${written}::${Prisma.raw(column)}`;
  });
  return [
    ...(scopes === undefined ? [] : [Prisma.sql`scopes = ${[...new Set(scopes)]}::text[]`]),
    ...(operations === undefined ? [] : [Prisma.sql`operations = ${operations}::text[]`]),
    ...ofLimits,
  ];
}

function noClient(name: string): ClientError {
  return new ClientError(`no client has the name ${name}. To list the clients, use clients list.`, 'client_not_found');
}

/** Returns the stored form of a key. */
function toRow(key: string, { person, expiresAt }: KeyOptions) {
  if (person !== undefined && !isPersonId(person)) {
    throw new ClientError(
      'the ID of a person must be 1 to 128 letters, digits, and the characters _ . : = / -. It must not be an email address or phone number, because records keep it',
    );
  }
  return {
    id: newId(),
    sha256: new Uint8Array(hashKey(key)),
    hint: key.slice(-4),
    expiresAt: expiresAt ?? null,
    person: person ?? null,
  };
}
