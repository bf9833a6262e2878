import { PrismaService } from '../../platform/database/prisma.service';
import { personHashSql } from './person-hash';

/** The person of a request, and who acted for them according to the token (RFC 8693). */
interface Behind {
  /** The name in the record. Null if it has none, or it was erased. */
  actor: string | null;
  person_id?: string | null | undefined;
  token?: { act?: { person_id: string } | null | undefined } | null | undefined;
}

/**
 * The names of people: those that they have for their clients, and those under which they sign in to the console, or did. An end
 * user at the same provider may be an operator, too. The hash tells it after the person was erased.
 * @param ids of the people, in SQL.
 */
export const namesSql = (ids: string) => `ARRAY(
  SELECT asked.name FROM person asked WHERE asked.id = ANY (${ids}) AND asked.name IS NOT NULL
  UNION ALL
  SELECT o.person FROM person asked JOIN api_key o ON o.kind = 'sign_in' AND o.issuer = asked.issuer
    AND asked.sha256 = ${personHashSql('asked.client_id', `'",' || to_json(o.issuer) || ',' || to_json(o.subject) || ']'`)}
  WHERE asked.id = ANY (${ids}))`;

/** Returns all names of whoever requested a call. */
export async function readRequesterNames(
  prisma: PrismaService,
  { actor, person_id, token }: Behind,
): Promise<string[]> {
  const recorded = actor === null ? [] : [actor];
  const ids = [person_id, token?.act?.person_id].filter((id) => typeof id === 'string');
  if (ids.length === 0) return recorded;
  const [row] = await prisma.$queryRawUnsafe<{ names: string[] }[]>(`SELECT ${namesSql('$1::uuid[]')} AS names`, ids);
  return [...recorded, ...(row?.names ?? [])];
}
