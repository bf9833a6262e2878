import { Author } from '../access/auth/author';
import { Prisma } from '../platform/database/generated/client';

/** Who caused a record with a command: the user of the operating system. */
export interface Operator {
  clientId: null;
  keyId: null;
  actor: string | null;
}

/** Returns the values of the columns client_id, key_id and actor. All are NULL without an author. */
export function authorSql(by: Author | Operator | null): Prisma.Sql {
  return Prisma.sql`${by?.clientId ?? null}::uuid, ${by?.keyId ?? null}::uuid, ${by?.actor ?? null}`;
}
