import { hash } from 'node:crypto';
import { IntentDocument, ItemDocument, PersonDocument } from '../../../journal/records/documents';
import { Form, KIND_NAMES, KindName, kindOf } from '../kinds';
import { RELATED_TABLES, RecordRow } from './record-rows';

/** A difference between the sealed text of a record and its columns or related rows. */
export interface Contradiction {
  /** The place (`intent_body/<call id>`, `person/<person id>`, …), or the column. */
  where: string;
  state: 'missing' | 'changed' | 'unknown' | 'column_changed';
}

/** Members of a record. The compared ones are texts and numbers. */
type Members = Record<string, string | number | undefined>;

/**
 * People of a call in the journal's format. Salts have 16 bytes (platform/privacy/commitment.ts): a longer
 * salt could include part of a value.
 */
const TEXT = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`;
const CONTACTS = ['email', 'handle', 'phone'].map((name) => `(?:"${name}":${TEXT},)?`).join('');
const PERSON = String.raw`\{${CONTACTS}"position":\d+,"salt":"[0-9a-f]{32}"\}`;
const PEOPLE = new RegExp(String.raw`^\[(?:${PERSON}(?:,${PERSON})*)?\]$`);

/** Columns that repeat members, by kind. In a row, they follow eight other values. */
const COLUMNS = new Map(
  KIND_NAMES.map((name) => [name, kindOf(name).isDocument ? Object.entries(kindOf(name).columns) : []]),
);
const FIRST_COLUMN = 8;

/** Compares a record with verified text to the columns that repeat it, and to the data that it commits to. */
export function contradictionsOf(kind: KindName, id: string, row: RecordRow): Contradiction[] {
  const related = RELATED_TABLES[kind];
  if (!related) return [];
  const [, , leaf, , bodyHash, keyHash, people, actorHash] = row;
  const record = parsed<Members>(leaf);
  if (!record) return [{ where: 'record', state: 'column_changed' }];
  const found = ofColumns(kind, record, row);
  const { table, body, idempotencyKey } = related;
  if (body) found.push(...ofCommitment(`${table}/${id}`, record[body.member], bodyHash));
  if (idempotencyKey) {
    found.push(...ofCommitment(`idempotency_key/${id}`, record.idempotency_key_commitment, keyHash));
  }
  const { actor_commitment: committed } = record;
  if (committed !== undefined && committed !== null) {
    found.push(...ofCommitment(`person/${record.person_id}`, committed, actorHash));
  }
  const { items = [] } = record as Partial<IntentDocument>;
  if (kind === 'intent' && (items.length > 0 || people !== null)) found.push(...ofPeople(id, items, people));
  return found;
}

/** @param hash hash of the record's erasable content. Null without content. */
function ofCommitment(
  where: string,
  commitment: Members[string] | null,
  hash: string | null,
): Contradiction[] {
  const committed = commitment ?? null;
  if (hash === committed) return [];
  return [{ where, state: hash === null ? 'missing' : committed === null ? 'unknown' : 'changed' }];
}

function ofColumns(kind: KindName, record: Members, row: RecordRow): Contradiction[] {
  const found: Contradiction[] = [];
  let place = FIRST_COLUMN;
  for (const [name, form] of COLUMNS.get(kind) ?? []) {
    if (!isMember(memberOf(record, name), form, row[place] ?? null))
      found.push({ where: name, state: 'column_changed' });
    place += 1;
  }
  return found;
}

/** Returns the member that a column repeats. A call without its own request omits the duration. */
function memberOf(record: Members, column: string): Members[string] {
  return column === 'upstream_ms' && record.answer_of !== undefined ? undefined : record[column];
}

/** Returns whether a column has the value of a member. A member without a value is omitted. */
function isMember(member: Members[string], form: Form, column: string | null): boolean {
  if (member === undefined || column === null) return member === undefined && column === null;
  return (form === 'time' ? asPostgresWrites(String(member)) : String(member)) === column;
}

/** Position of the decimals of an instant. */
const SECONDS_END = '2026-11-21T10:00:00'.length;
const [ZERO, POINT] = ['0'.charCodeAt(0), '.'.charCodeAt(0)];

/** Converts an instant (2026-11-21T10:00:00.120Z) to Postgres' format: 2026-11-21 10:00:00.12. */
function asPostgresWrites(instant: string): string {
  let end = instant.length - 1; // Without the Z.
  if (instant.charCodeAt(SECONDS_END) !== POINT) return `${instant.slice(0, 10)} ${instant.slice(11, end)}`;
  while (instant.charCodeAt(end - 1) === ZERO) end -= 1;
  if (instant.charCodeAt(end - 1) === POINT) end -= 1;
  return `${instant.slice(0, 10)} ${instant.slice(11, end)}`;
}

function ofPeople(id: string, items: ItemDocument[], people: string | null): Contradiction[] {
  const byPosition = new Map<number, PersonDocument>();
  const found: Contradiction[] = [];
  const where = (position: number) => `item_recipient/${id}/${position}`;
  const persons = people === null ? [] : personsIn(people);
  if (!persons) return [{ where: `intent_body/${id}`, state: 'changed' }];
  for (const person of persons) {
    if (items[person.position] === undefined || byPosition.has(person.position)) {
      found.push({ where: where(person.position), state: 'unknown' });
    }
    byPosition.set(person.position, person);
  }
  for (const [position, item] of items.entries()) {
    const person = byPosition.get(position);
    const isCommitted =
      (item.email_commitment ?? item.phone_commitment ?? item.handle_commitment) !== undefined;
    if (!person && isCommitted) found.push({ where: where(position), state: 'missing' });
    if (person && !isOpening(item, person)) found.push({ where: where(position), state: 'changed' });
  }
  return found;
}

/**
 * Parses the people of a call. Undefined for text that the journal would not write, which may be ambiguous.
 */
function personsIn(people: string): PersonDocument[] | undefined {
  const persons = PEOPLE.test(people) ? parsed<PersonDocument[]>(people) : undefined;
  // Text with escapes has other forms with the same meaning.
  return people.includes('\\') && JSON.stringify(persons) !== people ? undefined : persons;
}

/** Parses JSON. Undefined unless it is an object or array: the text was changed. */
function parsed<Value extends object>(text: string): Value | undefined {
  try {
    const value = JSON.parse(text) as Value | null;
    return typeof value === 'object' ? (value ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

function isOpening(item: ItemDocument, { salt, email, phone, handle }: PersonDocument): boolean {
  return (
    isCommittedTo(item.email_commitment, salt, email) &&
    isCommittedTo(item.phone_commitment, salt, phone) &&
    isCommittedTo(item.handle_commitment, salt, handle)
  );
}

function isCommittedTo(commitment: string | undefined, salt: string, value: string | undefined): boolean {
  if (value === undefined) return commitment === undefined;
  const salted = Buffer.concat([Buffer.from(salt, 'hex'), Buffer.from(value)]);
  return hash('sha256', salted, 'hex') === commitment; // As in platform/privacy/commitment.ts.
}
