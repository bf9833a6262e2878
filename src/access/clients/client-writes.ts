import { clock } from '../../platform/database/clock';
import { newId } from '../../platform/database/ids';
import { ACCOUNT_NAME } from '../../platform/config/environment';
import { MAIN_ACCOUNT } from '../../platform/config/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { ChangeAuthor, ChangeRecords, changesBetween, ClientChange, creationOf, recordChanges } from './changes';
import { ClientError } from './client-error';
import { ClientKind } from './client-kind';
import { Grants, toAssignments } from './grants';
import { hashKey, newKey, OPENS } from './key';
import { hintOf, listedClient, ListedClient } from './listed';
import { isPersonId } from './person';

export const CLIENT_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

export interface KeyOptions {
  /** The person who owns the key, if there is one. */
  person?: string | undefined;
  /** When the key expires. Undefined for never. */
  expiresAt?: Date | undefined;
}

/** A client that is to be created. */
export interface NewClient {
  name: string;
  /** Its account at the upstream, which it keeps. */
  account: string;
  kind: ClientKind;
  scopes: string[];
}

/** A valid key of a client, and the person who owns it. */
export interface Holder {
  key_id: string;
  person: string | null;
}

/** The stored form of a key. */
export type KeyRow = Omit<
  Prisma.ApiKeyGetPayload<object>,
  'clientId' | 'kind' | 'createdAt' | 'revokedAt' | 'lastUsedAt'
>;

/** Writes clients and keys with their records, in the transaction of the caller. */
export class ClientWrites {
  constructor(private readonly records: ChangeRecords) {}

  /** Adds a client, with its first key if it is a server. @throws ClientError if the name is taken. */
  async create(
    tx: Prisma.TransactionClient,
    { name, account, kind, scopes, operations, ...limits }: Partial<Grants> & NewClient,
    key: KeyRow | undefined,
    by: ChangeAuthor,
  ): Promise<ListedClient> {
    const row = { id: newId(), name, account, kind, scopes: [...new Set(scopes)], ...(operations && { operations }) };
    const data = { ...row, ...limits, ...(key && { keys: { create: key } }) };
    const client = await tx.client.create({ data, include: { keys: true } }).catch((error: unknown) => {
      if (!(error instanceof Prisma.PrismaClientKnownRequestError) || error.code !== 'P2002') throw error;
      throw clientExists(name);
    });
    const listed = listedClient(client, clock.now());
    const acts = [creationOf(listed), ...(key ? [issuanceOf(client, key)] : [])];
    await recordChanges(this.records, tx, acts, by);
    return listed;
  }

  /** Changes a client that {@link lockClient} has locked. */
  async update(
    tx: Prisma.TransactionClient,
    before: ListedClient,
    change: Partial<Grants>,
    by: ChangeAuthor,
  ): Promise<ListedClient> {
    const assignments = toAssignments(change);
    if (assignments.length === 0) return before;
    // Prisma's own update cannot set a list to null.
    await tx.$executeRaw`UPDATE client SET ${Prisma.join(assignments)} WHERE id = ${before.id}::uuid`;
    const after = await findClient(tx, before.name);
    await recordChanges(this.records, tx, changesBetween(before, after), by);
    return after;
  }

  /** @throws ClientError for a public client. */
  async issueKey(
    tx: Prisma.TransactionClient,
    client: Pick<ListedClient, 'id' | 'name' | 'kind'>,
    key: KeyRow,
    by: ChangeAuthor,
  ): Promise<void> {
    requireServer(client);
    await tx.apiKey.create({ data: { ...key, clientId: client.id } });
    await recordChanges(this.records, tx, [issuanceOf(client, key)], by);
  }
}

/** Reads a client. @throws ClientError if there is none. */
export async function findClient(tx: Prisma.TransactionClient, name: string): Promise<ListedClient> {
  const client = CLIENT_NAME.test(name)
    ? await tx.client.findUnique({ where: { name }, include: { keys: true } })
    : null;
  if (!client) throw noClient(name);
  return listedClient(client, clock.now());
}

/** Reads a client that no other transaction can change. Of two concurrent changes, the second starts from the first. */
export async function lockClient(tx: Prisma.TransactionClient, name: string): Promise<ListedClient> {
  await tx.$executeRaw`SELECT FROM client WHERE name = ${name} FOR NO KEY UPDATE`;
  return findClient(tx, name);
}

/** Returns the valid keys of a client, oldest first. */
export function holdersOf(tx: Prisma.TransactionClient, clientId: string): Promise<Holder[]> {
  return tx.$queryRaw<Holder[]>`
    SELECT k.id::text AS key_id, k.person FROM api_key k
    WHERE k.client_id = ${clientId}::uuid AND ${Prisma.raw(OPENS)}
    ORDER BY k.id`;
}

export async function isTaken(tx: Prisma.TransactionClient, name: string): Promise<boolean> {
  return (await tx.client.count({ where: { name } })) > 0;
}

/** @throws ClientError */
export function checkName(name: string): void {
  if (CLIENT_NAME.test(name)) return;
  throw new ClientError(
    'the client name must be 1 to 40 lowercase letters, digits, and hyphens, and must not begin with a hyphen',
  );
}

/** @throws ClientError */
export function checkAccount(name: string): void {
  if (name === MAIN_ACCOUNT || ACCOUNT_NAME.test(name)) return;
  throw new ClientError(
    'the account must be main or a name of UPSTREAM_ACCOUNTS: 1 to 24 lowercase letters, digits, and hyphens, beginning with a letter',
  );
}

/** Makes the first key of a client. A public client has none. @throws ClientError */
export function makeFirstKey(name: string, kind: ClientKind, options: KeyOptions): Partial<ReturnType<typeof makeKey>> {
  return kind === 'public' ? {} : makeKey(name, options);
}

/** @throws ClientError for a public client, which has no secret keys. */
export function requireServer({ name, kind }: Pick<ListedClient, 'name' | 'kind'>): void {
  if (kind === 'server') return;
  throw new ClientError(
    `the client ${name} is public, so it has no secret keys. Let its people send access tokens of its provider, or issue the key to a client of the kind server.`,
    'public_client',
  );
}

/** Makes a key for a client, and its stored form. @throws ClientError if the ID of the person could be a contact. */
export function makeKey(client: string, { person, expiresAt }: KeyOptions): { key: string; row: KeyRow } {
  if (person !== undefined && !isPersonId(person)) {
    throw new ClientError(
      'the ID of a person must be 1 to 128 letters, digits, and the characters _ . : = / -. It must not be an email address or phone number, because records keep it',
    );
  }
  const key = newKey(client);
  const sha256 = new Uint8Array(hashKey(key));
  return {
    key,
    row: { id: newId(), sha256, hint: key.slice(-4), expiresAt: expiresAt ?? null, person: person ?? null },
  };
}

export function clientExists(name: string): ClientError {
  return new ClientError(`the client ${name} already exists. To give it another key, use keys issue.`, 'client_exists');
}

function noClient(name: string): ClientError {
  return new ClientError(`no client has the name ${name}. To list the clients, use clients list.`, 'client_not_found');
}

function issuanceOf({ id, name }: { id: string; name: string }, key: KeyRow): ClientChange {
  const after = { hint: hintOf(name, key), person: key.person, expires_at: key.expiresAt?.toISOString() ?? null };
  return { action: 'key_issued', client: { id, name }, keyId: key.id, before: null, after };
}

export function revocationOf(key: KeyRow & { client: { id: string; name: string } }, revokedAt: Date): ClientChange {
  const { id, name } = key.client;
  const [before, after] = [{ revoked_at: null }, { revoked_at: revokedAt.toISOString() }];
  return { action: 'key_revoked', client: { id, name }, keyId: key.id, before, after };
}
