import { Client } from 'pg';
import { unexplainedHash } from '../../journal/reconciliation/unexplained-payments';
import { PersonDocument, withoutRecipients } from '../../journal/records/recipients';
import { openCalls } from '../../operations/lifecycle/lifecycle-sql';
import { Contact, recipientKey } from '../../recipients/recipient';
import { eraseBeneficiaries } from './beneficiaries';
import { BODIES, BodyTable, countBodies, idsWhere } from './bodies';
import { recordedErasure, RemovalRequest } from './erasures';
import { eraseEvidence } from './evidence';
import { eraseKeys, keysNaming, NamingKeys } from './keys';
import { searchedIn, namedIn, spelledIn } from './person';
import { erasePersons, personsWhere } from './persons';
import { catchUp, lockIndex, reindex } from './reindex';

/** Places with data of a person, and the calls to leave. */
export interface PersonPlaces {
  /** Calls with the person as a recipient. Their requests and answers are erased completely. */
  recipients: { callId: string; position: number }[];
  /** IDs of other rows that name the person. */
  bodies: Record<BodyTable, string[]>;
  /** Calls whose idempotency keys name the person. */
  keys: NamingKeys;
  /** Unfinished calls, of which nothing is erased. */
  open: string[];
}

/** The result of an erasure or of a dry run. */
export interface ErasureResult {
  /** Null if nothing was erased, and for a dry run. */
  id: string | null;
  places: string[];
  open: string[];
}

/**
 * Scans all bodies for a person.
 * @param progress receives the number of scanned bodies and their total.
 */
export async function findPlaces(
  db: Client,
  person: Contact,
  progress: (done: number, of: number) => void,
): Promise<PersonPlaces['bodies']> {
  const of = await countBodies(db);
  let done = 0;
  const seen = (rows: number) => progress((done += rows), of);
  const named = namedIn(person);
  return {
    intent_body: await idsWhere(db, BODIES.intent_body, named, seen),
    outcome_body: await idsWhere(db, BODIES.outcome_body, named, seen),
    access_filters: await idsWhere(db, BODIES.access_filters, searchedIn(person), seen),
  };
}

/**
 * Erases a person in one transaction. Their data is removed with its salt, which makes the remaining
 * commitments unlinkable. The records and every sum stay.
 * @param request null for a dry run.
 */
export async function erase(
  db: Client,
  person: Contact,
  bodies: PersonPlaces['bodies'],
  request: RemovalRequest | null,
): Promise<ErasureResult> {
  return recordedErasure(db, person.kind, request, async () => {
    // These scans may take long, so they run before any lock.
    const evidence = await eraseEvidence(db, person);
    const keys = await keysNaming(db, person);
    const callers = await personsWhere(db, spelledIn(person));
    await db.query('DELETE FROM unexplained_payment WHERE recipient = $1', [unexplainedHash(person.key)]);
    await lockIndex(db);
    const found = await withoutOpen(db, {
      ...(await recipientsOf(db, person, bodies.intent_body)),
      bodies,
      keys,
    });
    const registers = await eraseBeneficiaries(db, person);
    const removed = await remove(db, found);
    const persons = await erasePersons(db, callers); // last, because it locks their clients
    const places = [...removed, ...evidence, ...registers, ...persons.places].sort();
    return { places, open: [...new Set([...found.open, ...persons.open])].sort() };
  });
}

/**
 * Finds the payouts to a person. Runs within the transaction, because the search index includes the calls
 * that arrived during the scan.
 */
async function recipientsOf(
  db: Client,
  person: Contact,
  scanned: string[],
): Promise<Pick<PersonPlaces, 'recipients'>> {
  await catchUp(db);
  const { rows } = await db.query<{ id: string; people: string }>(
    `SELECT intent_id AS id, people FROM intent_body WHERE people IS NOT NULL AND intent_id IN (
       SELECT unnest($1::uuid[]) UNION SELECT call_id FROM indexed_call
       WHERE terms && ARRAY[search_term('to', $2)])`,
    [scanned, person.key],
  );
  const recipients = rows.flatMap(({ id, people }) =>
    (JSON.parse(people) as PersonDocument[]).flatMap((one) =>
      recipientKey(person.kind, one[person.kind] ?? '') === person.key
        ? [{ callId: id, position: one.position }]
        : [],
    ),
  );
  return { recipients };
}

async function withoutOpen(
  db: Client,
  { recipients, bodies, keys }: Omit<PersonPlaces, 'open'>,
): Promise<PersonPlaces> {
  const named = [...bodies.intent_body, ...bodies.outcome_body, ...keys.requests, ...keys.refusals];
  const calls = [...recipients.map(({ callId }) => callId), ...named];
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
    keys: { requests: closed(keys.requests), refusals: closed(keys.refusals) },
    open: [...open],
  };
}

/** @returns the emptied places. */
async function remove(db: Client, { recipients, bodies, keys }: PersonPlaces): Promise<string[]> {
  const places = await removeFromRequests(db, bodies.intent_body, recipients);
  places.push(...(await eraseKeys(db, keys.requests, keys.refusals)));
  for (const table of ['outcome_body', 'access_filters'] as const) {
    const { key } = BODIES[table];
    const removed = await db.query<{ id: string }>(
      `DELETE FROM ${table} WHERE ${key} = ANY ($1::uuid[]) RETURNING ${key} AS id`,
      [bodies[table]],
    );
    places.push(...removed.rows.map(({ id }) => `${table}/${id}`));
  }
  // A salt allows to compare a guess with everything that was derived from the body.
  await db.query(
    `UPDATE idempotency_claim SET salt = NULL, content_hash = NULL
     WHERE intent_id = ANY ($1::uuid[]) AND salt IS NOT NULL`,
    [bodies.intent_body],
  );
  await db.query(
    'DELETE FROM recent_content WHERE lasting IN (TRUE, FALSE) AND intent_id = ANY ($1::uuid[])',
    [bodies.intent_body],
  );
  await db.query(
    `DELETE FROM recipient_payment USING unnest($1::uuid[], $2::integer[]) AS gone(call_id, position)
     WHERE intent_id = gone.call_id AND recipient_payment.position = gone.position`,
    [recipients.map(({ callId }) => callId), recipients.map(({ position }) => position)],
  );
  await reindex(db, [
    ...new Set([...recipients.map(({ callId }) => callId), ...keys.requests, ...keys.refusals]),
  ]);
  return places;
}

interface BesideRow {
  id: string;
  people: string | null;
  people_salt: Buffer | null;
  has_body: boolean;
}

/** Removes bodies and the recipients' names. Other people of the same calls and idempotency keys stay. */
async function removeFromRequests(
  db: Client,
  callIds: string[],
  recipients: PersonPlaces['recipients'],
): Promise<string[]> {
  const { rows } = await db.query<BesideRow>(
    `SELECT intent_id AS id, people, people_salt, body IS NOT NULL AS has_body FROM intent_body
     WHERE intent_id = ANY ($1::uuid[]) ORDER BY intent_id FOR UPDATE`,
    [callIds],
  );
  const gone = new Set(recipients.map(({ callId, position }) => `${callId}/${position}`));
  const isGone = (id: string) => (position: number) => gone.has(`${id}/${position}`);
  const left = rows.map(({ id, people, people_salt: peopleSalt }) => {
    const all = { people: JSON.parse(people ?? '[]') as PersonDocument[], peopleSalt };
    if (!all.people.some(({ position }) => isGone(id)(position))) return { id, people, peopleSalt };
    const others = withoutRecipients(all, isGone(id));
    return { id, people: JSON.stringify(others.people), peopleSalt: null };
  });
  await db.query(
    `UPDATE intent_body b SET salt = NULL, body = NULL, coding = NULL, people = l.people,
       people_salt = l.people_salt
     FROM unnest($1::uuid[], $2::text[], $3::bytea[]) AS l(id, people, people_salt) WHERE b.intent_id = l.id`,
    [left.map(({ id }) => id), left.map(({ people }) => people), left.map(({ peopleSalt }) => peopleSalt)],
  );
  await db.query(
    `DELETE FROM intent_body
     WHERE intent_id = ANY ($1::uuid[]) AND people IS NULL AND idempotency_key IS NULL`,
    [callIds],
  );
  return [
    ...recipients.map(({ callId, position }) => `item_recipient/${callId}/${position}`),
    ...rows.filter(({ has_body: hasBody }) => hasBody).map(({ id }) => `intent_body/${id}`),
  ];
}
