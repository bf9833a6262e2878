import { Author } from '../../access/auth/call';
import { Prisma } from '../../platform/database/generated/client';
import { commitment } from '../../platform/privacy/commitment';

/** The author of a record by command: the user of the operating system. */
export interface Operator {
  clientId: null;
  keyId: null;
  actor: string | null;
}

/** Returns the values of the columns client_id, key_id and actor. All are NULL without an author. */
export function authorSql(by: Author | Operator | null): Prisma.Sql {
  return Prisma.sql`${by?.clientId ?? null}::uuid, ${by?.keyId ?? null}::uuid, ${by?.actor ?? null}`;
}

/** The row of a person. An erased person has neither name nor salt. */
export interface PersonRow {
  name: string | null;
  salt: Uint8Array | null;
}

/**
 * Returns the name of the requester. Null without a person, or after an erasure. A name that was set after
 * the record differs from its commitment, and is not returned. Mirrors the SQL function is_committed().
 * @param committed the commitment to the name, in hex. Missing in recovered records.
 */
export function actorOf(committed: string | null | undefined, person: PersonRow | null): string | null {
  if (!person?.name || !person.salt) return null;
  if (!committed) return person.name;
  return commitment(Buffer.from(person.salt), person.name)?.toString('hex') === committed
    ? person.name
    : null;
}
