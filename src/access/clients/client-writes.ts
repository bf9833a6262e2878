import { ACCOUNT_NAME } from '../../platform/config/environment/environment';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { ChangeAuthor, ChangeRecords, changesBetween, creationOf, recordChanges } from './changes';
import { ClientError } from './client-error';
import { Grants, toAssignments } from './grants';
import { OPENS } from './key';
import { issuanceOf, KeyRow, renewProviderKeys, requireServer } from './key-rows';
import { ClientKind, listedClient, ListedClient } from './listed';
import { isSignIn, requireNewSubject } from './sign-ins';

export const CLIENT_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** A client to create. */
export interface NewClient {
  name: string;
  /** Its account at the upstream. Immutable. */
  account: string;
  kind: ClientKind;
  scopes: string[];
}

/** A valid key of a client, with its owner. */
export interface Holder {
  key_id: string;
  person: string | null;
}

/** Writes clients and keys with their records, in the transaction of the caller. */
export class ClientWrites {
  constructor(private readonly records: ChangeRecords) {}

  /**
   * Adds a client, with its first key if it is a server.
   * @throws ClientError if its name or its provider is taken.
   */
  async create(
    tx: Prisma.TransactionClient,
    { name, account, kind, scopes, operations, ...limits }: Partial<Grants> & NewClient,
    key: KeyRow | undefined,
    author: ChangeAuthor,
  ): Promise<ListedClient> {
    const row = {
      id: newId(),
      name,
      account,
      kind,
      scopes: [...new Set(scopes)],
      ...(operations && { operations }),
    };
    const data = { ...row, ...limits, ...(key && { keys: { create: key } }) };
    const client = await tx.client.create({ data, include: { keys: true } }).catch((error: unknown) => {
      throw conflictOf(error, name);
    });
    const listed = listedClient(client, clock.now());
    const acts = [
      creationOf(listed),
      ...(key ? [issuanceOf(client, key)] : []),
      ...(await renewProviderKeys(tx, null, listed)),
    ];
    await recordChanges(this.records, tx, acts, author);
    return listed;
  }

  /** Changes a client that {@link lockClient} has locked. @throws ClientError if its provider is taken. */
  async update(
    tx: Prisma.TransactionClient,
    before: ListedClient,
    change: Partial<Grants>,
    author: ChangeAuthor,
  ): Promise<ListedClient> {
    const assignments = toAssignments(change);
    if (assignments.length === 0) return before;
    // Prisma's own update cannot set a list to null.
    await tx.$executeRaw`UPDATE client SET ${Prisma.join(assignments)} WHERE id = ${before.id}::uuid`.catch(
      (error: unknown) => {
        throw conflictOf(error, before.name);
      },
    );
    const after = await findClient(tx, before.name);
    const changes = changesBetween(before, after);
    const keys = await renewProviderKeys(tx, before, after);
    await endSessionsOfRemovedOrigins(tx, after);
    await recordChanges(this.records, tx, [...changes, ...keys], author);
    return after;
  }

  /** @throws ClientError for a public client. */
  async issueKey(
    tx: Prisma.TransactionClient,
    client: Pick<ListedClient, 'id' | 'name' | 'kind'>,
    key: KeyRow,
    author: ChangeAuthor,
  ): Promise<void> {
    requireServer(client);
    if (isSignIn(key)) await requireNewSubject(tx, key);
    await tx.apiKey.create({
      data: { ...key, clientId: client.id, ...(isSignIn(key) && { kind: 'sign_in' }) },
    });
    await recordChanges(this.records, tx, [issuanceOf(client, key)], author);
  }
}

/** Deletes the page sessions of removed origins, so adding an origin again does not revive them. */
async function endSessionsOfRemovedOrigins(
  tx: Prisma.TransactionClient,
  { id, origins }: Pick<ListedClient, 'id' | 'origins'>,
): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM page_session s USING api_key k
    WHERE k.id = s.key_id AND k.client_id = ${id}::uuid AND NOT s.origin = ANY (${origins}::text[])`;
}

/** Reads a client. @throws ClientError if unknown. */
export async function findClient(tx: Prisma.TransactionClient, name: string): Promise<ListedClient> {
  const client = CLIENT_NAME.test(name)
    ? await tx.client.findUnique({ where: { name }, include: { keys: true } })
    : null;
  if (!client) throw unknownClient(name);
  return listedClient(client, clock.now());
}

/** Reads and locks a client. A concurrent change waits, and starts from this one's result. */
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
  throw new ClientError('the client name must be 1 to 40 lowercase letters, digits, and inner hyphens');
}

/** @throws ClientError */
export function checkAccount(name: string): void {
  if (name === MAIN_ACCOUNT || ACCOUNT_NAME.test(name)) return;
  throw new ClientError(
    'the account must be main or a name of UPSTREAM_ACCOUNTS: ' +
      '1 to 24 lowercase letters, digits, and hyphens, beginning with a letter',
  );
}

/** Maps a unique violation to the error for a taken name or provider client. Returns other errors. */
function conflictOf(error: unknown, name: string): unknown {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return error;
  const details = JSON.stringify([error.message, error.meta]);
  if (/client_(token|page)_client|(token|page)_client_id/.test(details)) return providerTaken();
  return error.code === 'P2002' ? clientExists(name) : error;
}

function providerTaken(): ClientError {
  return new ClientError(
    'another client has this token_issuer with this token_client_id, ' +
      'or this page_issuer with this page_client_id. Each client needs its own app at the provider.',
    'provider_taken',
  );
}

export function clientExists(name: string): ClientError {
  return new ClientError(
    `the client ${name} already exists. To give it another key, use keys issue.`,
    'client_exists',
  );
}

function unknownClient(name: string): ClientError {
  return new ClientError(
    `no client has the name ${name}. To list the clients, use clients list.`,
    'client_not_found',
  );
}
