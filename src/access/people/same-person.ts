import { Prisma } from '../../platform/database/generated/client';

/** IDs of the humans behind a key or a request: the owner of the key, and others who may know its secret. */
export type Humans = readonly string[];

type Database = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** A request as recorded. */
interface RecordedRequest {
  client_id: string;
  key_id: string;
  person_id?: string | null | undefined;
  /** The actor of the token, who acted for the person (RFC 8693, section 4.1). */
  token?: { act?: { person_id: string } | null | undefined } | null | undefined;
}

/** The owner of a key, as named by the key. */
export interface KeyOwner {
  /** Null for a shared key. */
  person?: string | null;
  /** The provider of a sign-in. */
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

/** SQL: the humans behind a request `i` of the journal. */
export const REQUESTER_OF_INTENT = Prisma.sql`humans_behind(
  ARRAY[i.person_id, (i.record::json #>> '{token,act,person_id}')::uuid], '{}',
  ARRAY[(i.record::json ->> 'key_id')::uuid])::text[]`;

/** SQL: the ID of the human of a person `p`. */
export const HUMAN = Prisma.sql`coalesce(p.same_as, p.id)`;

/** Returns whether two sets share a human. */
export function samePerson(a: Humans, b: Humans): boolean {
  return a.some((human) => b.includes(human));
}

/** Reads the requester of a call, to compare with its decider. */
export async function readRequester(
  prisma: Database,
  { client_id: clientId, key_id: keyId, person_id: personId = null, token }: RecordedRequest,
): Promise<Requester> {
  const acting = token?.act?.person_id ?? null;
  const humans = await readHumans(
    prisma,
    Prisma.sql`ARRAY[${personId}::uuid, ${acting}::uuid], '{}', ARRAY[${keyId}::uuid]`,
  );
  return { clientId, keyId, isPerson: personId !== null, humans };
}

/** Reads the humans behind a decider's key: its owner, its claimant, and its requester before the claim. */
export function readDecider(prisma: Database, keyId: string | null): Promise<Humans> {
  return readHumans(
    prisma,
    Prisma.sql`ARRAY(
      SELECT requester.person_id FROM api_key k JOIN pending_change p ON p.id = k.change_id
        JOIN api_key requester ON requester.id = p.key_id
      WHERE k.id = ${keyId}::uuid AND k.claimed_at IS NOT NULL), '{}', ARRAY[${keyId}::uuid]`,
  );
}

/** Returns whether one human owns both keys. Others who may know their secrets do not count. */
export async function haveSameOwner(
  prisma: Database,
  keyId: string | null,
  otherKeyId: string | null,
): Promise<boolean> {
  return samePerson(await readOwner(prisma, keyId), await readOwner(prisma, otherKeyId));
}

function readOwner(prisma: Database, keyId: string | null): Promise<Humans> {
  return readHumans(
    prisma,
    Prisma.sql`ARRAY(SELECT person_id FROM api_key WHERE id = ${keyId}::uuid), '{}', '{}'`,
  );
}

/** Calls `i` whose payouts a change settles. */
const CALLS_OF_CHANGE = Prisma.sql`intent i WHERE i.id IN ((change::json #>> '{settlement,call_id}')::uuid,
  (change::json #>> '{attribution,call_id}')::uuid, (change::json #>> '{attribution,owner,call_id}')::uuid)`;

/**
 * Returns the changes that the owner of a key must not decide: changes that they requested with any identity,
 * merges of them with another person, and settlements of calls that they or their client requested.
 */
export async function readOwnChanges(
  prisma: Database,
  ids: readonly string[],
  keyId: string | null,
): Promise<ReadonlySet<string>> {
  const decider = await readDecider(prisma, keyId);
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id::text FROM pending_change
    WHERE id = ANY (${ids}::uuid[]) AND (key_id = ${keyId}::uuid OR humans_behind(
      ARRAY[(change::json #>> '{merge,kept,id}')::uuid, (change::json #>> '{merge,merged,id}')::uuid],
      ARRAY[person], ARRAY[key_id]) && ${decider}::uuid[] OR EXISTS (
        SELECT FROM ${CALLS_OF_CHANGE} AND (${REQUESTER_OF_INTENT}::uuid[] && ${decider}::uuid[]
          OR i.client_id = (SELECT client_id FROM api_key WHERE id = ${keyId}::uuid))))`;
  return new Set(rows.map(({ id }) => id));
}

/** Reads the humans who own existing or planned keys. Omits unknown owners. */
export function readOwners(prisma: Database, owners: readonly KeyOwner[]): Promise<Humans> {
  const names = owners.map(({ person = null }) => person);
  const signIns = owners.filter(({ subject }) => subject);
  const issuers = signIns.map(({ issuer }) => issuer);
  const subjects = signIns.map(({ subject }) => subject);
  return readHumans(
    prisma,
    Prisma.sql`ARRAY(
      SELECT person_id FROM unnest(${issuers}::text[], ${subjects}::text[]) AS sign_in(issuer, subject)
      JOIN person_identity ON is_staff AND sha256 = identity_sha256(sign_in.issuer, subject)
    ), ${names}::text[], '{}'`,
  );
}

/** @param values the arguments of `humans_behind()` of the migration `people`. */
async function readHumans(prisma: Database, values: Prisma.Sql): Promise<Humans> {
  const [row] = await prisma.$queryRaw<{ humans: string[] }[]>`
    SELECT humans_behind(${values})::text[] AS humans`;
  return row?.humans ?? [];
}
