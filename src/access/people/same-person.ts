import { Prisma } from '../../platform/database/generated/client';

/** The humans who may be behind something, by their IDs: the owner of a key, and others who may know its secret. */
export type Humans = readonly string[];

type Database = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** A request as recorded. */
interface RecordedRequest {
  client_id: string;
  key_id: string;
  /** The name in the record. Null if it has none, or it was erased. */
  actor: string | null;
  person_id?: string | null | undefined;
  /** Who acted for the person according to the token (RFC 8693). */
  token?: { act?: { person_id: string } | null | undefined } | null | undefined;
}

/** The owner of a key, as it names them. */
export interface KeyOwner {
  /** Null if the key belongs to nobody in particular. */
  person?: string | null;
  /** Of a person who signs in. */
  issuer?: string;
  subject?: string;
}

/** The requester of a call. */
export interface Requester {
  clientId: string;
  keyId: string;
  /** Whether a person made the request. */
  isPerson: boolean;
  humans: Humans;
}

/** The humans behind a request `i` of the journal, in SQL. */
export const REQUESTER_OF_INTENT = Prisma.sql`humans_behind(
  ARRAY[i.person_id, (i.record::json #>> '{token,act,person_id}')::uuid], ARRAY[i.record::json ->> 'actor'],
  ARRAY[(i.record::json ->> 'key_id')::uuid])::text[]`;

/** The ID of the human who is the person `p`, in SQL. */
export const HUMAN = Prisma.sql`coalesce(p.same_as, p.id)`;

/** Returns whether two things may have the same human behind them. */
export function samePerson(one: Humans, other: Humans): boolean {
  return one.some((human) => other.includes(human));
}

/** Reads the requester of a call, with whom its decider is compared. */
export async function readRequester(
  prisma: Database,
  { actor, client_id: clientId, key_id: keyId, person_id: personId = null, token }: RecordedRequest,
): Promise<Requester> {
  const acting = token?.act?.person_id ?? null;
  const humans = await readHumans(
    prisma,
    Prisma.sql`ARRAY[${personId}::uuid, ${acting}::uuid], ARRAY[${actor}::text], ARRAY[${keyId}::uuid]`,
  );
  return { clientId, keyId, isPerson: (personId ?? actor) !== null, humans };
}

/** Reads who may decide with a key: its owner, who claimed it, and who requested it before it was claimed. */
export function readDecider(prisma: Database, keyId: string | null): Promise<Humans> {
  return readHumans(
    prisma,
    Prisma.sql`ARRAY(
      SELECT asked.person_id FROM api_key k JOIN pending_change p ON p.id = k.change_id JOIN api_key asked ON asked.id = p.key_id
      WHERE k.id = ${keyId}::uuid AND k.claimed_at IS NOT NULL), '{}', ARRAY[${keyId}::uuid]`,
  );
}

/** Reads whether one human owns both keys. Others who may know their secrets do not count. */
export async function haveSameOwner(prisma: Database, one: string | null, other: string | null): Promise<boolean> {
  return samePerson(await readOwner(prisma, one), await readOwner(prisma, other));
}

function readOwner(prisma: Database, keyId: string | null): Promise<Humans> {
  return readHumans(prisma, Prisma.sql`ARRAY(SELECT person_id FROM api_key WHERE id = ${keyId}::uuid), '{}', '{}'`);
}

/**
 * Returns the changes among these that another person than the owner of a key must decide about: those that the owner requested, by
 * any identity, and merges of the owner with another person.
 */
export async function readOwnChanges(
  prisma: Database,
  ids: readonly string[],
  keyId: string | null,
): Promise<ReadonlySet<string>> {
  const decider = await readDecider(prisma, keyId);
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id::text FROM pending_change WHERE id = ANY (${ids}::uuid[]) AND (key_id = ${keyId}::uuid OR humans_behind(
      ARRAY[(change::json #>> '{merge,kept,id}')::uuid, (change::json #>> '{merge,merged,id}')::uuid], ARRAY[person],
      ARRAY[key_id]) && ${decider}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

/** Reads the humans who own keys that may not exist yet. Those who were never seen are missing. */
export function readOwners(prisma: Database, owners: readonly KeyOwner[]): Promise<Humans> {
  const [names, subjects] = [owners.map(({ person = null }) => person), owners.filter(({ subject }) => subject)];
  return readHumans(
    prisma,
    Prisma.sql`ARRAY(
      SELECT person_id FROM unnest(${subjects.map(({ issuer }) => issuer)}::text[], ${subjects.map(({ subject }) => subject)}::text[])
        AS signed_in(issuer, subject)
      JOIN person_identity ON is_staff AND sha256 = identity_sha256(signed_in.issuer, subject)), ${names}::text[], '{}'`,
  );
}

/** @param given the arguments of `humans_behind()` of the migration `people`. */
async function readHumans(prisma: Database, given: Prisma.Sql): Promise<Humans> {
  const [row] = await prisma.$queryRaw<{ humans: string[] }[]>`SELECT humans_behind(${given})::text[] AS humans`;
  return row?.humans ?? [];
}
