import { PrismaService } from '../../platform/database/prisma.service';
import { personHashSql } from './person-hash';

/**
 * The names under which a person signs in to the console, or did: an end user at the same provider may be an operator, too. The
 * hash tells it after the person was erased.
 * @param id of the person, in SQL.
 */
export const operatorNamesSql = (id: string) => `ARRAY(
  SELECT o.person FROM person asked JOIN api_key o ON o.kind = 'sign_in' AND o.issuer = asked.issuer
    AND asked.sha256 = ${personHashSql('asked.client_id', `'",' || to_json(o.issuer) || ',' || to_json(o.subject) || ']'`)}
  WHERE asked.id = ${id})`;

/** @param personId the person of a request, if it has one. */
export async function readOperatorNames(prisma: PrismaService, personId: string | null | undefined): Promise<string[]> {
  if (!personId) return [];
  const [row] = await prisma.$queryRawUnsafe<{ names: string[] }[]>(
    `SELECT ${operatorNamesSql('$1::uuid')} AS names`,
    personId,
  );
  return row?.names ?? [];
}
