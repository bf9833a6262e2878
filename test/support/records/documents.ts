import canonicalize from 'canonicalize';
import { v7 as uuidv7 } from 'uuid';
import { kindOf } from '../../../src/history/log/kinds';
import { IntentDocument, OutcomeDocument, SettlementDocument } from '../../../src/journal/records/documents';
import { PersonDocument, withoutRecipients } from '../../../src/journal/records/recipients';

/** A test database or a connection. */
interface Queries {
  query(sql: string, values: unknown[]): Promise<unknown>;
}

/** Some members of a record. */
export type PartialRecord<Record> = { [Name in keyof Record]?: Record[Name] | undefined };
interface Documents {
  intent: PartialRecord<IntentDocument>;
  outcome: PartialRecord<OutcomeDocument>;
  settlement: PartialRecord<SettlementDocument>;
}
type Table = keyof Documents;

/** Rows that accompany the record of a request. */
export interface Beside {
  body?: Buffer | string | undefined;
  people?: (Omit<PersonDocument, 'salt'> & { salt?: string })[] | undefined;
}

const KEYS = { intent: 'id', outcome: 'intent_id', settlement: 'id' };
const SALT = 'ab'.repeat(16);

/** SQL that writes records from an array of their texts, with the columns derived from their members. */
export function insertion(table: Table, texts: string): string {
  const columns = Object.keys(kindOf(table).columns);
  return `INSERT INTO ${table} (${columns.join(', ')}, record)
    SELECT ${columns.map((name) => `r.${name}`).join(', ')}, d.text
    FROM unnest(${texts}::text[]) AS d(text)
      CROSS JOIN LATERAL json_populate_record(NULL::${table}, d.text::json) AS r`;
}

/** Returns the record of a request with these members. */
export function intentText({
  recorded_at: at = new Date().toISOString(),
  ...members
}: Documents['intent']): string {
  const id = members.id ?? uuidv7();
  const ids = { id, client_id: id, key_id: id, request_id: 'made-up', client_address: '::1' };
  const times = { received_at: at, recorded_at: at };
  // No process has the number 0.
  const about = {
    operation: 'POST /send',
    process: 0,
    item_count: members.items?.length ?? 0,
    table: 'intent',
  };
  return canonicalize({ ...ids, ...times, ...about, ...members }) ?? '';
}

/** Returns the record of an outcome with these members. */
function outcomeText({
  recorded_at: at = new Date().toISOString(),
  ...members
}: Documents['outcome']): string {
  const times = { sent_at: at, answered_at: at, recorded_at: at, upstream_ms: '1.000' };
  return canonicalize({ kind: 'succeeded', attempts: 1, table: 'outcome', ...times, ...members }) ?? '';
}

/** Writes requests like the journal. Derives columns from members. */
export async function insertIntents(db: Queries, intents: Documents['intent'][]): Promise<void> {
  await db.query(insertion('intent', '$1'), [intents.map(intentText)]);
}

/** Writes a request and its accompanying rows. @returns its ID. */
export async function insertIntent(
  db: Queries,
  intent: Documents['intent'] = {},
  { body, people }: Beside = {},
): Promise<string> {
  const id = intent.id ?? uuidv7();
  await insertIntents(db, [{ ...intent, id }]);
  if (body !== undefined || people) await insertBeside(db, id, { body, people });
  return id;
}

export async function insertBeside(db: Queries, id: string, { body, people }: Beside): Promise<void> {
  const salted = people && JSON.stringify(people.map((person) => ({ salt: SALT, ...person })));
  const salt = body === undefined ? null : Buffer.from(SALT, 'hex');
  const values = [id, salt, body === undefined ? null : Buffer.from(body), salted ?? null];
  await db.query('INSERT INTO intent_body (intent_id, salt, body, people) VALUES ($1, $2, $3, $4)', values);
}

/** Writes outcomes like the journal. */
export async function insertOutcomes(db: Queries, outcomes: Documents['outcome'][]): Promise<void> {
  await db.query(insertion('outcome', '$1'), [outcomes.map(outcomeText)]);
}

/** Returns the record of a settlement with these members, by default by the resolver, of the first payout. */
function settlementText({
  recorded_at: at = new Date().toISOString(),
  ...members
}: Documents['settlement']): string {
  const { resolution = 'not_executed', intent_id, number = 1 } = members;
  const [entry, to, counted_usd] =
    resolution === 'confirmed' ? ['paid', 'recipient', '1'] : ['not_executed', 'available', '0'];
  const entries = [{ position: 0, entry, from: 'reserved', to }];
  const about = {
    id: uuidv7(),
    number,
    supersedes: intent_id,
    source: 'resolver',
    reason: 'made up',
    table: 'settlement',
  };
  return canonicalize({ entries, resolution, counted_usd, recorded_at: at, ...about, ...members }) ?? '';
}

/** Writes settlements like the journal, without changing the spending. */
export async function insertSettlements(db: Queries, settlements: Documents['settlement'][]): Promise<void> {
  await db.query(insertion('settlement', '$1'), [settlements.map(settlementText)]);
}

/** SQL that changes records as the owner of the tables: the texts, and the derived columns. */
export async function editRecord<T extends Table>(
  db: { query(sql: string, values: unknown[]): Promise<{ record: string }[]> },
  table: T,
  id: string,
  change: (record: Documents[T]) => Documents[T],
): Promise<void> {
  const [row] = await db.query(`SELECT record FROM ${table} WHERE ${KEYS[table]} = $1`, [id]);
  if (!row) throw new Error(`there is no ${table} ${id}`);
  const columns = Object.keys(kindOf(table).columns);
  await db.query(`ALTER TABLE ${table} DISABLE TRIGGER refuse_change`, []);
  await db.query(
    `UPDATE ${table} SET (${columns.join(', ')},
      record) = (SELECT ${columns.map((name) => `r.${name}`).join(', ')}, $2
       FROM json_populate_record(NULL::${table}, $2::json) AS r) WHERE ${KEYS[table]} = $1`,
    [id, canonicalize(change(JSON.parse(row.record) as Documents[T])) ?? ''],
  );
  await db.query(`ALTER TABLE ${table} ENABLE TRIGGER refuse_change`, []);
}

/** SQL that changes the column `people` of a request, for attacks like `replaceAll`. */
export const editPeople = (id: string, people: string) =>
  `UPDATE intent_body SET people = ${people} WHERE intent_id = '${id}'`;

/** Returns SQL that removes the names at a position, as an erasure does. */
export async function removePerson(
  db: { query(sql: string, values: unknown[]): Promise<unknown> },
  id: string,
  position: number,
): Promise<[sql: string, values: unknown[]]> {
  const sql = 'SELECT people, people_salt FROM intent_body WHERE intent_id = $1';
  const [row] = (await db.query(sql, [id])) as { people: string; people_salt: Buffer | null }[];
  const people = JSON.parse(row!.people) as PersonDocument[];
  const left = withoutRecipients({ people, peopleSalt: row!.people_salt }, (at) => at === position);
  const values = [id, JSON.stringify(left.people)];
  return ['UPDATE intent_body SET people = $2, people_salt = NULL WHERE intent_id = $1', values];
}

/** SQL that removes the body and its salt, and keeps the people. */
export const removeBody = (id: string) =>
  `UPDATE intent_body SET salt = NULL, body = NULL WHERE intent_id = '${id}'`;
