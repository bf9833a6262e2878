import { PrismaService } from '../../platform/database/prisma.service';
import { personHashSql } from './person-hash';

/** The person of a request, and who acted for them according to the token (RFC 8693). */
interface Behind {
  key_id: string;
  /** The name in the record. Null if it has none, or it was erased. */
  actor: string | null;
  person_id?: string | null | undefined;
  token?: { act?: { person_id: string } | null | undefined } | null | undefined;
}

/**
 * The names of people: those that they have for their clients, and those under which they sign in to the console, or did. An end
 * user at the same provider may be an operator, too. The hash tells it after the person was erased. Those who claimed the
 * key of the request may have made it, too.
 * @param ids of the people, in SQL.
 * @param keyId of the request, in SQL.
 */
export const namesSql = (ids: string, keyId: string) => `ARRAY(
  SELECT unnest(k.claimed_by) FROM api_key k WHERE k.id = ${keyId}
  UNION ALL
  SELECT asked.name FROM person asked WHERE asked.id = ANY (${ids}) AND asked.name IS NOT NULL
  UNION ALL
  SELECT o.person FROM person asked JOIN api_key o ON o.kind = 'sign_in' AND o.issuer = asked.issuer
    AND asked.sha256 = ${personHashSql('asked.client_id', `'",' || to_json(o.issuer) || ',' || to_json(o.subject) || ']'`)}
  WHERE asked.id = ANY (${ids}))`;

/** Returns all names of whoever requested a call. */
export async function readRequesterNames(
  prisma: PrismaService,
  { actor, key_id, person_id, token }: Behind,
): Promise<string[]> {
  const recorded = actor === null ? [] : [actor];
  const ids = [person_id, token?.act?.person_id].filter((id) => typeof id === 'string');
  const [row] = await prisma.$queryRawUnsafe<{ names: string[] }[]>(
    `SELECT ${namesSql('$1::uuid[]', '$2::uuid')} AS names`,
    ids,
    key_id,
  );
  return [...recorded, ...(row?.names ?? [])];
}

/**
 * Returns the people who may know the secret of a key besides its owner: who requested it for its person, and who claimed it.
 */
export async function readHands(prisma: Pick<PrismaService, '$queryRaw'>, keyId: string | null): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ name: string }[]>`
    SELECT unnest(p.person || k.claimed_by) AS name FROM api_key k JOIN pending_change p ON p.id = k.change_id
    WHERE k.id = ${keyId}::uuid AND k.claimed_at IS NOT NULL`;
  return rows.map(({ name }) => name);
}

/** Returns whether two lists name the same person. Persons are compared without regard to case. */
export function isAmong(names: readonly string[], others: readonly string[]): boolean {
  const lower = new Set(others.map((name) => name.toLowerCase()));
  return names.some((name) => lower.has(name.toLowerCase()));
}
