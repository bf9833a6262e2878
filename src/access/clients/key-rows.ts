import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { ClientChange } from './changes';
import { ClientError } from './client-error';
import { hashKey, hashOfNothing, newClaimCode, newKey } from './key';
import { ClientKind, hintOf, ListedClient } from './listed';
import { identityOf, isPersonId, isSignIn, SignInIdentity } from './sign-ins';

export interface KeyOptions {
  /** The owner of the key. Undefined for a shared key. */
  person?: string | undefined;
  /** Expiry of the key. Undefined for none. */
  expiresAt?: Date | undefined;
}

/** An open claim for the secret of an approved personal key. */
interface Claim {
  changeId: string;
  /** SHA-256 of the claim code. */
  claimSha256: Uint8Array<ArrayBuffer>;
  claimUntil: Date;
}

/** The stored form of a key. */
export type KeyRow = Pick<
  Prisma.ApiKeyGetPayload<object>,
  'id' | 'sha256' | 'hint' | 'expiresAt' | 'person'
> &
  Partial<SignInIdentity> &
  Partial<Claim>;

type Target = Pick<ListedClient, 'id' | 'name'>;

/** Generates the first key of a client, except for a public one. @throws ClientError */
export function makeFirstKey(
  name: string,
  kind: ClientKind,
  options: KeyOptions,
): Partial<ReturnType<typeof makeKey>> {
  return kind === 'public' ? {} : makeKey(name, options);
}

/** @throws ClientError for a public client, which has no secret keys. */
export function requireServer({ name, kind }: Pick<ListedClient, 'name' | 'kind'>): void {
  if (kind === 'server') return;
  throw new ClientError(
    `the client ${name} is public, so it has no secret keys. ` +
      'Let its people send access tokens of its provider, or issue the key to a client of the kind server.',
    'public_client',
  );
}

/**
 * Generates a key for a client, with its stored form.
 * @throws ClientError if the person's ID could be a contact.
 */
export function makeKey(client: string, { person, expiresAt }: KeyOptions): { key: string; row: KeyRow } {
  if (person !== undefined && !isPersonId(person)) {
    throw new ClientError(
      'the ID of a person must be 1 to 128 letters, digits, and the characters _ . : = / -. ' +
        'It must not be an email address or phone number, because records are permanent',
    );
  }
  const key = newKey(client);
  const sha256 = new Uint8Array(hashKey(key));
  return {
    key,
    row: { id: newId(), sha256, hint: key.slice(-4), expiresAt: expiresAt ?? null, person: person ?? null },
  };
}

/** Returns a key without a secret, and the claim code that creates it. Until then, no text has its hash. */
export function unclaimed(
  client: string,
  row: KeyRow,
  { changeId, claimUntil }: Pick<Claim, 'changeId' | 'claimUntil'>,
): { code: string; row: KeyRow } {
  const code = newClaimCode(client);
  const claimSha256 = new Uint8Array(hashKey(code));
  return { code, row: { ...row, sha256: hashOfNothing(), hint: '', changeId, claimSha256, claimUntil } };
}

/** Returns the record of issuing a key. */
export function issuanceOf({ id, name }: Target, key: KeyRow & { kind?: string }): ClientChange {
  const identity = isSignIn(key) ? identityOf(key) : { hint: hintOf(name, key) };
  const after = { ...identity, person: key.person, expires_at: key.expiresAt?.toISOString() ?? null };
  return { action: 'key_issued', client: { id, name }, keyId: key.id, before: null, after };
}

/** Returns the record of revoking a key. */
export function revocationOf({ id, name }: Target, key: { id: string }, revokedAt: Date): ClientChange {
  const [before, after] = [{ revoked_at: null }, { revoked_at: revokedAt.toISOString() }];
  return { action: 'key_revoked', client: { id, name }, keyId: key.id, before, after };
}

/**
 * Keys that represent a client's providers, with the fields that identify each provider. A change of
 * `token_dpop` or `token_max_age` keeps the key: if it was revoked, one person alone must not admit its
 * tokens.
 */
const STAND_FOR = {
  provider: ['token_issuer', 'token_audience', 'token_jwks_uri', 'token_algorithms', 'token_client_id'],
  page: ['page_issuer', 'page_client_id'],
} as const satisfies Record<string, (keyof ListedClient)[]>;

type ProviderKeyKind = keyof typeof STAND_FOR;

const KINDS = Object.keys(STAND_FOR) as ProviderKeyKind[];

/**
 * Replaces the keys of a client's changed providers: a `provider` key represents its tokens, a `page` key its
 * page sessions. Every instance then looks up their callers again. An unchanged provider keeps its key, even
 * a revoked one. The caller has locked the client.
 * @param before null for a new client.
 * @returns the changes for the caller to record.
 */
export async function renewProviderKeys(
  tx: Prisma.TransactionClient,
  before: ListedClient | null,
  after: ListedClient,
): Promise<ClientChange[]> {
  const acts: ClientChange[] = [];
  for (const kind of KINDS.filter((provider) => hasChanged(provider, before, after))) {
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

/** Issues a key without a secret: no known text has its hash. */
async function issue(
  tx: Prisma.TransactionClient,
  client: ListedClient,
  kind: ProviderKeyKind,
): Promise<ClientChange> {
  const key = { id: newId(), kind, sha256: hashOfNothing(), hint: kind, person: null, expiresAt: null };
  await tx.apiKey.create({ data: { ...key, clientId: client.id } });
  return issuanceOf(client, key);
}
