import { commitment } from '../platform/privacy/commitment';

/** The row of a person. Erased persons have neither a name nor a salt. */
export interface PersonRow {
  name: string | null;
  salt: Uint8Array | null;
}

/** The person in a record. */
interface RecordedActor {
  actor?: string | null | undefined;
  actor_commitment?: string | null | undefined;
}

/**
 * Returns the name of the requester. Null if there was no person, or if it was erased: the record commits to the name, so
 * a name that was set later does not appear in earlier records. Records of earlier programs have the name itself, and recovered
 * ones have no commitment.
 */
export function actorOf(
  { actor, actor_commitment: committed }: RecordedActor,
  person: PersonRow | null,
): string | null {
  if (!person?.name || !person.salt) return actor ?? null;
  if (!committed) return person.name;
  return commitment(Buffer.from(person.salt), person.name)?.toString('hex') === committed ? person.name : null;
}
