import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { ClientChange } from './changes';
import { ClientError } from './client-error';
import { hashKey, hashOfNothing, newClaimCode, newKey } from './key';
import { ClientKind, hintOf, ListedClient } from './listed';
import { identityOf, isPersonId, isSignIn, SignInIdentity } from './sign-ins';

export interface KeyOptions {
  /** The person who owns the key, if there is one. */
  person?: string | undefined;
  /** When the key expires. Undefined for never. */
  expiresAt?: Date | undefined;
}

/** What a person claims: the secret of a key that two others agreed to. */
interface Claim {
  changeId: string;
  /** Of the claim code. */
  claimSha256: Uint8Array<ArrayBuffer>;
  claimUntil: Date;
}

/** The stored form of a key. */
export type KeyRow = Pick<Prisma.ApiKeyGetPayload<object>, 'id' | 'sha256' | 'hint' | 'expiresAt' | 'person'> &
  Partial<SignInIdentity> &
  Partial<Claim>;

type Target = Pick<ListedClient, 'id' | 'name'>;

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

/** Returns a key whose secret does not exist yet. Its hash is that of nothing, and its claim code makes the secret. */
export function unclaimed(
  client: string,
  row: KeyRow,
  { changeId, claimUntil }: Pick<Claim, 'changeId' | 'claimUntil'>,
): { code: string; row: KeyRow } {
  const code = newClaimCode(client);
  const claimSha256 = new Uint8Array(hashKey(code));
  return { code, row: { ...row, sha256: hashOfNothing(), hint: '', changeId, claimSha256, claimUntil } };
}

/** The act of issuing a key. */
export function issuanceOf({ id, name }: Target, key: KeyRow & { kind?: string }): ClientChange {
  const identity = isSignIn(key) ? identityOf(key) : { hint: hintOf(name, key) };
  const after = { ...identity, person: key.person, expires_at: key.expiresAt?.toISOString() ?? null };
  return { action: 'key_issued', client: { id, name }, keyId: key.id, before: null, after };
}

/** The act of revoking a key. */
export function revocationOf({ id, name }: Target, key: { id: string }, revokedAt: Date): ClientChange {
  const [before, after] = [{ revoked_at: null }, { revoked_at: revokedAt.toISOString() }];
  return { action: 'key_revoked', client: { id, name }, keyId: key.id, before, after };
}

/**
 * The kinds of keys that stand for a provider of a client, and the fields that say whom the provider lets in. A change of
 * `token_dpop` or `token_max_age` keeps the key: if it was revoked, one person alone must not let the tokens in again.
 */
const STAND_FOR = {
  provider: ['token_issuer', 'token_audience', 'token_jwks_uri', 'token_algorithms', 'token_client_id'],
  page: ['page_issuer', 'page_client_id'],
} as const satisfies Record<string, (keyof ListedClient)[]>;

type ProviderKeyKind = keyof typeof STAND_FOR;

const KINDS = Object.keys(STAND_FOR) as ProviderKeyKind[];

/**
 * Replaces the keys that stand for changed providers of a client. A `provider` key stands for its tokens, and a `page` key for
 * the sessions on its pages. Their callers are then looked up again, on every instance. A provider that did not
 * change keeps its key, also if it was revoked. The caller has locked the client.
 * @param before null for a new client.
 * @returns the acts, which the caller records.
 */
export async function renewProviderKeys(
  tx: Prisma.TransactionClient,
  before: ListedClient | null,
  after: ListedClient,
): Promise<ClientChange[]> {
  const acts: ClientChange[] = [];
  for (const kind of KINDS.filter((one) => hasChanged(one, before, after))) {
    acts.push(...(await revoke(tx, after, kind)));
    if (after[STAND_FOR[kind][0]] !== null) acts.push(await issue(tx, after, kind));
  }
  return acts;
}

function hasChanged(kind: ProviderKeyKind, before: ListedClient | null, after: ListedClient): boolean {
  return STAND_FOR[kind].some((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after[name]));
}

async function revoke(
  tx: Prisma.TransactionClient,
  client: ListedClient,
  kind: ProviderKeyKind,
): Promise<ClientChange[]> {
  const valid = { clientId: client.id, kind, revokedAt: null };
  const keys = await tx.apiKey.findMany({ where: valid });
  const revokedAt = clock.now();
  await tx.apiKey.updateMany({ where: valid, data: { revokedAt } });
  return keys.map((key) => revocationOf(client, key, revokedAt));
}

/** Nobody knows a text with the hash of this key, so it opens nothing by itself. */
async function issue(tx: Prisma.TransactionClient, client: ListedClient, kind: ProviderKeyKind): Promise<ClientChange> {
  const key = { id: newId(), kind, sha256: hashOfNothing(), hint: kind, person: null, expiresAt: null };
  await tx.apiKey.create({ data: { ...key, clientId: client.id } });
  return issuanceOf(client, key);
}
