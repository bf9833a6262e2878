import { Client } from 'pg';
import { ClientError } from '../../access/clients/client-error';
import { FORGOTTEN_AFTER } from '../../access/people/person';
import { openCalls } from '../../operations/lifecycle/lifecycle-sql';
import { BODIES, idsWhere } from './bodies';
import { recordedErasure, RemovalRequest } from './erasures';
import { catchUp, lockIndex, reindex } from './reindex';

/** Operator's search for a person to erase. */
export interface PersonSearch {
  /** Name used by the client, subject of the tokens, or ID in records. */
  named: string;
  /** Name of the client. Undefined covers all clients. */
  client?: string | undefined;
  /** Issuer of the tokens. Undefined covers all issuers. */
  issuer?: string | undefined;
}

/** A person for whom a client calls. */
export interface CallingPerson {
  id: string;
  clientId: string;
  /** Name of the client. */
  client: string;
  /** Issuer of the tokens. Null if the client names the person. */
  issuer: string | null;
  name: string;
}

/** The result of erasing persons, or of a dry run. */
export interface ErasedPersons {
  /** Null if nothing was erased, and for a dry run. */
  id: string | null;
  places: string[];
  /** Unfinished calls, whose persons are not erased. */
  open: string[];
  /** Places that keep the name: `access/<id>`, `api_key/<id>`, … */
  kept: string[];
}

const NAMES = {
  table: 'person',
  key: 'id',
  bytes: "convert_to(coalesce(name, ''), 'UTF8')",
};

/** Finds the persons of clients whose names pass a test. */
export function personsWhere(db: Client, test: (name: string) => boolean): Promise<string[]> {
  return idsWhere(db, NAMES, test, () => undefined);
}

/** Finds the persons of clients by their exact name, or by an ID. Erased persons have no name. */
export async function personsNamed(
  db: Client,
  { named, client, issuer }: PersonSearch,
): Promise<CallingPerson[]> {
  const { rows } = await db.query<CallingPerson>(
    `SELECT p.id, p.client_id AS "clientId", c.name AS client, p.issuer, p.name
     FROM person p JOIN client c ON c.id = p.client_id
     WHERE p.name IS NOT NULL AND (p.name = $1 OR p.id::text = lower($1))
       AND ($2::text IS NULL OR c.name = $2) AND ($3::text IS NULL OR p.issuer = $3) ORDER BY p.id`,
    [named, client ?? null, issuer ?? null],
  );
  return rows;
}

/**
 * Erases persons in one transaction: their names, and auditors' searches for them.
 * @param request null for a dry run.
 */
export async function eraseNamed(
  db: Client,
  persons: CallingPerson[],
  request: RemovalRequest | null,
): Promise<ErasedPersons> {
  const names = new Set(persons.map(({ name }) => name));
  const isSearch = (filters: string) => names.has((JSON.parse(filters) as { actor?: string }).actor ?? '');
  const searches = await idsWhere(db, BODIES.access_filters, isSearch, () => undefined);
  const kept = await placesKeeping(db, persons);
  const ids = persons.map(({ id }) => id);
  return recordedErasure(db, 'person', request, async () => {
    await lockIndex(db);
    const { places, open } = await erasePersons(db, ids);
    if (places.length === 0) return { places, open, kept };
    await db.query('DELETE FROM access_filters WHERE access_id = ANY ($1::uuid[])', [searches]);
    return { places: [...places, ...searches.map((id) => `access_filters/${id}`)].sort(), open, kept };
  });
}

/**
 * Erases the names of persons, within a transaction that locks the search index. Their hashes stay for a
 * while: a returning person has the same caps and idempotency keys. Earlier tokens, ephemeral keys and
 * sessions end, because they would restore the name. Persons with unfinished calls stay, because the decider
 * of such a call must be another person.
 * @returns the emptied places, `person/<id>`, and the unfinished calls.
 */
export async function erasePersons(db: Client, ids: string[]): Promise<{ places: string[]; open: string[] }> {
  if (ids.length === 0) return { places: [], open: [] };
  await catchUp(db);
  const calls = await callsOf(db, ids);
  const open = await openOf(db, calls);
  const kept = new Set(open.map(({ personId }) => personId));
  const erased = ids.filter((id) => !kept.has(id));
  await db.query(
    `UPDATE person SET name = NULL, salt = NULL, revoked_at = clock_timestamp(),
       forget_after = clock_timestamp() + interval '${FORGOTTEN_AFTER}'
     WHERE id = ANY ($1::uuid[])`,
    [erased],
  );
  await db.query('DELETE FROM page_session WHERE person_id = ANY ($1::uuid[])', [erased]);
  await reindex(db, calls);
  await requireNoNewCalls(db, erased, new Set(calls));
  return { places: erased.map((id) => `person/${id}`), open: open.map(({ id }) => id) };
}

/**
 * Locks the clients of erased persons, and requires that no unfinished calls arrived meanwhile. The changed
 * rows make every instance reload its callers and their persons.
 */
async function requireNoNewCalls(db: Client, persons: string[], known: ReadonlySet<string>): Promise<void> {
  await db.query(
    'UPDATE client SET name = name WHERE id IN (SELECT client_id FROM person WHERE id = ANY ($1::uuid[]))',
    [persons],
  );
  await catchUp(db);
  const calls = (await callsOf(db, persons)).filter((id) => !known.has(id));
  if ((await openOf(db, calls)).length > 0) {
    throw new ClientError(
      'The person made a call during this command. Nothing was erased. Run it again after the call.',
    );
  }
  await reindex(db, calls);
}

async function callsOf(db: Client, persons: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    'SELECT call_id AS id FROM indexed_call WHERE terms && $1::text[]',
    [persons.map((id) => `person:${id}`)],
  );
  return rows.map(({ id }) => id);
}

async function openOf(db: Client, calls: string[]): Promise<{ id: string; personId: string }[]> {
  const { rows } = await db.query<{ id: string; personId: string }>(
    `SELECT id, i.person_id AS "personId"
     FROM (${openCalls('i.id = ANY ($1::uuid[])')}) AS open JOIN intent i USING (id) ORDER BY id`,
    [calls],
  );
  return rows;
}

/**
 * Finds places that keep the names of persons named by clients: keys of the person, and records of reads,
 * decisions and changes. End users are named by ID there.
 */
async function placesKeeping(db: Client, persons: CallingPerson[]): Promise<string[]> {
  const named = persons.filter(({ issuer }) => issuer === null);
  const { rows } = await db.query<{ place: string }>(
    `WITH gone AS (SELECT * FROM unnest($1::uuid[], $2::text[]) AS g(client_id, actor))
     SELECT 'access/' || id AS place FROM access JOIN gone USING (client_id, actor)
     UNION ALL SELECT 'decision/' || intent_id FROM decision JOIN gone USING (client_id, actor)
     UNION ALL SELECT 'activity/' || id FROM activity JOIN gone USING (client_id, actor)
     UNION ALL SELECT 'api_key/' || k.id FROM api_key k
       JOIN gone g ON g.client_id = k.client_id AND g.actor = k.person
     ORDER BY 1`,
    [named.map(({ clientId }) => clientId), named.map(({ name }) => name)],
  );
  return rows.map(({ place }) => place);
}
