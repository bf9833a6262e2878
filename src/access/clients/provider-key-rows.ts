import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { ClientChange } from './changes';
import { hashOfNothing } from './key';
import { issuanceOf, revocationOf } from './key-rows';
import { ListedClient } from './listed';

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
 * the sessions on its pages. Whoever was let in by them is then looked up again, on every instance. A provider that did not
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
