import { Injectable } from '@nestjs/common';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { clock } from '../../platform/database/clock';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { isUuid } from '../../platform/database/uuid';
import { AT_START, ChangeAuthor, ChangeRecords } from './changes';
import { ClientError } from './client-error';
import { checkAccount, checkName, ClientWrites, findClient, lockClient } from './client-writes';
import { checkGrants, Grants, grantsOf } from './grants';
import { KeyOptions, makeFirstKey, makeKey, revocationOf } from './key-rows';
import { ClientKind, ListedClient, listedClient, listedKey, ListedKey } from './listed';
import { completeProviders, NO_PROVIDERS } from './providers';
import { makeSignIn, SignInOptions } from './sign-ins';

export interface IssuedKey {
  id: string;
  /** The client's name. */
  name: string;
  /** The key. It is available only once. */
  key: string;
}

/** A new client. A public client has no key. */
export type CreatedClient = Omit<IssuedKey, 'key'> & Partial<Pick<IssuedKey, 'key'>>;

export interface NewClientOptions extends Partial<Omit<Grants, 'scopes'>>, KeyOptions {
  account?: string | undefined;
  /** Default: `server`. */
  kind?: ClientKind | undefined;
}

/** Maximum wait of a change for a connection, and then for rows locked by admissions, in ms. */
export const TRANSACTION_LIMITS = { maxWait: 5_000, timeout: 10_000 };

/**
 * Manages client apps and their keys, and records every change in its transaction. The default author is the
 * proxy at its startup.
 */
@Injectable()
export class ClientsService {
  private readonly writes: ClientWrites;

  constructor(
    private readonly prisma: SidePrisma,
    private readonly changes: ChangeRecords,
  ) {
    this.writes = new ClientWrites(changes);
  }

  /**
   * Creates a client. A server gets its first key. `id` is the client's. Omitted limits do not apply.
   * @throws ClientError
   */
  create(
    name: string,
    scopes: string[],
    options?: NewClientOptions & { kind?: 'server' },
    author?: ChangeAuthor,
  ): Promise<IssuedKey>;
  create(
    name: string,
    scopes: string[],
    options: NewClientOptions,
    author?: ChangeAuthor,
  ): Promise<CreatedClient>;
  async create(
    name: string,
    scopes: string[],
    { account = MAIN_ACCOUNT, kind = 'server', person, expiresAt, ...grants }: NewClientOptions = {},
    author: ChangeAuthor = AT_START,
  ): Promise<CreatedClient> {
    checkName(name);
    checkAccount(account);
    checkGrants({ scopes, ...grants });
    const { key, row } = makeFirstKey(name, kind, { person, expiresAt });
    const all = completeProviders({ ...NO_PROVIDERS, origins: [] }, grants);
    const { id } = await this.prisma.$transaction(
      (tx) => this.writes.create(tx, { name, account, kind, scopes, ...all }, row, author),
      TRANSACTION_LIMITS,
    );
    return { id, name, ...(key !== undefined && { key }) };
  }

  /**
   * Changes the permissions of a client, on every instance. Omitted fields keep their value.
   * @throws ClientError
   */
  async update(
    name: string,
    change: Partial<Grants>,
    author: ChangeAuthor = AT_START,
  ): Promise<ListedClient> {
    checkGrants(change);
    return this.prisma.$transaction(async (tx) => {
      const client = await lockClient(tx, name);
      return this.writes.update(tx, client, completeProviders(grantsOf(client), change), author);
    }, TRANSACTION_LIMITS);
  }

  find(name: string): Promise<ListedClient> {
    return findClient(this.prisma, name);
  }

  async list(): Promise<ListedClient[]> {
    const clients = await this.prisma.client.findMany({ include: { keys: true }, orderBy: { name: 'asc' } });
    const now = clock.now();
    return clients.map((client) => listedClient(client, now));
  }

  /**
   * Issues another key for a client, for rotation without downtime. `id` is the key's.
   * @throws ClientError
   */
  async issueKey(
    name: string,
    options: KeyOptions = {},
    author: ChangeAuthor = AT_START,
  ): Promise<IssuedKey> {
    const client = await this.find(name);
    const { key, row } = makeKey(name, options);
    await this.prisma.$transaction((tx) => this.writes.issueKey(tx, client, row, author), TRANSACTION_LIMITS);
    return { id: row.id, name, key };
  }

  /**
   * Lets a person sign in as a client at the provider. `id` is that of the person's key.
   * @throws ClientError
   */
  async allowSignIn(
    name: string,
    options: SignInOptions,
    author: ChangeAuthor = AT_START,
  ): Promise<{ id: string }> {
    const client = await this.find(name);
    const row = makeSignIn(options);
    await this.prisma.$transaction((tx) => this.writes.issueKey(tx, client, row, author), TRANSACTION_LIMITS);
    return { id: row.id };
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
   * Revokes a key, on every instance: each request queries the database. Idempotent.
   * @param clientName the required owner of the key. Undefined allows any.
   */
  async revokeKey(
    id: string,
    clientName?: string,
    author: ChangeAuthor = AT_START,
  ): Promise<{ id: string; revoked_at: Date }> {
    return this.prisma.$transaction(async (tx) => {
      if (isUuid(id)) await tx.$executeRaw`SELECT FROM api_key WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
      const key = isUuid(id)
        ? await tx.apiKey.findUnique({ where: { id }, include: { client: true } })
        : null;
      if (!key || (clientName !== undefined && key.client.name !== clientName)) {
        throw new ClientError(`no key has the ID ${id}. To list the keys, use keys list.`, 'key_not_found');
      }
      if (key.revokedAt) return { id, revoked_at: key.revokedAt };
      const revokedAt = clock.now();
      await tx.apiKey.update({ where: { id }, data: { revokedAt } });
      await this.changes.record(tx, [revocationOf(key.client, key, revokedAt)], author);
      return { id, revoked_at: revokedAt };
    }, TRANSACTION_LIMITS);
  }
}
