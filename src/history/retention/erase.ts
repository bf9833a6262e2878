import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { Signer } from '../log/note';
import { Erasure, signRecord } from '../log/signed-records';
import { BODIES, BodyTable, countBodies, idsWhere } from './bodies';
import { eraseEvidence } from './evidence';
import { openCalls } from '../../operations/lifecycle-sql';
import { askedFor, namedIn, Person } from './person';
import { lockIndex, reindex } from './reindex';

/** The places of a person. */
export interface Places {
  /** Calls with the person as a recipient. Their requests and answers are erased completely. */
  recipients: { callId: string; position: number }[];
  /** IDs of other rows that name the person. */
  bodies: Record<BodyTable, string[]>;
  /** Calls that are not over. Nothing of them is erased. */
  open: string[];
}

/** The result of an erasure or of a dry run. */
export interface Erased {
  /** Null if there was nothing to erase, or for a dry run. */
  id: string | null;
  places: string[];
  open: string[];
}

export interface Wish {
  reason: string;
  actor: string | null;
  signer: Signer;
}

/** The columns that name people, each with its comparison. */
const SAME: Record<Person['kind'], string> = {
  email: 'lower(email) IN (lower($1), lower(normalize($1, NFC)), lower(normalize($1, NFD)))',
  phone: 'phone = $1',
  handle: 'lower(handle) = lower($1)',
};

/** Finds a person everywhere. @param progress receives the number of scanned bodies and their total. */
export async function findPlaces(
  db: Client,
  person: Person,
  progress: (done: number, of: number) => void,
): Promise<Places['bodies']> {
  const of = await countBodies(db);
  let done = 0;
  const seen = (rows: number) => progress((done += rows), of);
  const named = namedIn(person);
  return {
    intent_body: await idsWhere(db, 'intent_body', named, seen),
    outcome_body: await idsWhere(db, 'outcome_body', named, seen),
    access_filters: await idsWhere(db, 'access_filters', askedFor(person), seen),
  };
}

/**
 * Erases a person in one transaction. Their data is removed with its salt, so that nobody can link the remaining
 * commitments to them. The records and every sum stay.
 * @param wish null for a dry run.
 */
export async function erase(db: Client, person: Person, bodies: Places['bodies'], wish: Wish | null): Promise<Erased> {
  await db.query('BEGIN');
  try {
    const evidence = await eraseEvidence(db, person); // may take long, so it runs before any lock
    await lockIndex(db);
    const found = await withoutOpen(db, { ...(await recipientsOf(db, person)), bodies });
    const places = [...(await remove(db, found)), ...evidence].sort();
    const done = wish && places.length > 0;
    const id = done ? await record(db, person, places, wish) : null;
    await db.query(done ? 'COMMIT' : 'ROLLBACK');
    return { id, places, open: found.open };
  } catch (error) {
    await db.query('ROLLBACK');
    throw error;
  }
}

/** Runs within the transaction, because the indexes know calls that arrived during the scan. */
async function recipientsOf(db: Client, { kind, value }: Person): Promise<Pick<Places, 'recipients'>> {
  const { rows } = await db.query<Places['recipients'][number]>(
    `SELECT intent_id AS "callId", position FROM item_recipient WHERE ${SAME[kind]}`,
    [value],
  );
  return { recipients: rows };
}

async function withoutOpen(db: Client, { recipients, bodies }: Omit<Places, 'open'>): Promise<Places> {
  const calls = [...recipients.map(({ callId }) => callId), ...bodies.intent_body, ...bodies.outcome_body];
  const { rows } = await db.query<{ id: string }>(openCalls('i.id = ANY ($1::uuid[])'), [calls]);
  const open = new Set(rows.map(({ id }) => id));
  const closed = (ids: string[]) => [...new Set(ids)].filter((id) => !open.has(id));
  const own = recipients.map(({ callId }) => callId);
  return {
    recipients: recipients.filter(({ callId }) => !open.has(callId)),
    bodies: {
      intent_body: closed([...own, ...bodies.intent_body]),
      outcome_body: closed([...own, ...bodies.outcome_body]),
      access_filters: bodies.access_filters,
    },
    open: [...open],
  };
}

/** @returns the places that were emptied. */
async function remove(db: Client, { recipients, bodies }: Places): Promise<string[]> {
  const { rows } = await db.query<{ place: string }>(
    `DELETE FROM item_recipient USING unnest($1::uuid[], $2::int[]) AS gone(call_id, place)
     WHERE intent_id = gone.call_id AND position = gone.place
     RETURNING 'item_recipient/' || intent_id || '/' || position AS place`,
    [recipients.map(({ callId }) => callId), recipients.map(({ position }) => position)],
  );
  const places = rows.map(({ place }) => place);
  for (const table of Object.keys(BODIES) as BodyTable[]) {
    const { key } = BODIES[table];
    const removed = await db.query<{ id: string }>(
      `DELETE FROM ${table} WHERE ${key} = ANY ($1::uuid[]) RETURNING ${key} AS id`,
      [bodies[table]],
    );
    places.push(...removed.rows.map(({ id }) => `${table}/${id}`));
  }
  // Anything derived from a body can be compared with a guess as long as its salt exists.
  const asked = [bodies.intent_body];
  await db.query(
    'UPDATE idempotency_claim SET salt = NULL, content_hash = NULL WHERE intent_id = ANY ($1::uuid[]) AND salt IS NOT NULL',
    asked,
  );
  await db.query('DELETE FROM recent_content WHERE intent_id = ANY ($1::uuid[])', asked);
  await reindex(db, [...new Set(recipients.map(({ callId }) => callId))]);
  return places;
}

async function record(
  db: Client,
  { kind }: Person,
  places: string[],
  { reason, actor, signer }: Wish,
): Promise<string> {
  const erasure: Erasure = { id: uuidv7(), kind, reason, actor, places, erased_at: new Date() };
  await db.query(
    `INSERT INTO erasure (id, kind, reason, actor, places, erased_at, signature)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [erasure.id, kind, reason, actor, places, erasure.erased_at, signRecord(signer, 'erasure', erasure)],
  );
  return erasure.id;
}
