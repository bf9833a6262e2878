import { IntentDocument } from '../../../journal/records/documents';
import {
  isErased,
  PersonDocument,
  recipientsCommitment,
  StoredPeople,
} from '../../../journal/records/recipients';
import { Form, KIND_NAMES, KindName, kindOf } from '../kinds';
import { hashOfBody, RELATED_TABLES, RecordRow } from './record-rows';

/** A difference between the sealed text of a record and its columns or related rows. */
export interface Contradiction {
  /** The place (`intent_body/<call id>`, `person/<person id>`, …), or the column. */
  where: string;
  state: 'missing' | 'changed' | 'unknown' | 'column_changed';
}

/** Members of a record. The compared ones are texts and numbers. */
type Members = Record<string, string | number | undefined>;

/**
 * Recipients of a call in the journal's format: with names and the salt of the list, with names and own
 * salts, and erased. Salts have 16 bytes (platform/privacy/commitment.ts): a longer salt could include part
 * of a value.
 */
const TEXT = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`;
const HASH = '"[0-9a-f]{64}"';
const SALT = '[0-9a-f]{32}';
const members = (suffix: string, value: string) =>
  ['email', 'handle', 'phone'].map((name) => `(?:"${name}${suffix}":${value},)?`).join('');
const NAMED = String.raw`\{${members('', TEXT)}"position":\d+\}`;
const SALTED = String.raw`\{${members('', TEXT)}"position":\d+,"salt":"${SALT}"\}`;
const ERASED = String.raw`\{${members('_commitment', HASH)}"position":\d+\}`;
const listOf = (one: string) => String.raw`\[(?:${one}(?:,${one})*)?\]`;
const PEOPLE = new RegExp(`^(?:${SALT}:${listOf(NAMED)}|:${listOf(`(?:${SALTED}|${ERASED})`)})$`);

/** Columns that repeat members, by kind. In a row, they follow eight other values. */
const COLUMNS = new Map(
  KIND_NAMES.map((name) => [name, kindOf(name).isDocument ? Object.entries(kindOf(name).columns) : []]),
);
const FIRST_COLUMN = 8;

/** Compares a record with verified text to the columns that repeat it, and to the data that it commits to. */
export function contradictionsOf(kind: KindName, id: string, row: RecordRow): Contradiction[] {
  const related = RELATED_TABLES[kind];
  if (!related) return [];
  const [, , leaf, , stored, keyHash, people, actorHash] = row;
  const record = parsed<Members>(leaf);
  if (!record) return [{ where: 'record', state: 'column_changed' }];
  const found = ofColumns(kind, record, row);
  const { table, body, idempotencyKey } = related;
  if (body) found.push(...ofCommitment(`${table}/${id}`, record[body.member], hashOfBody(stored)));
  if (idempotencyKey) {
    found.push(...ofCommitment(`idempotency_key/${id}`, record.idempotency_key_commitment, keyHash));
  }
  const { actor_commitment: committed } = record;
  if (committed !== undefined && committed !== null) {
    found.push(...ofCommitment(`person/${record.person_id}`, committed, actorHash));
  }
  const { recipients_commitment: recipients } = record as Partial<IntentDocument>;
  if (kind === 'intent') found.push(...ofPeople(id, recipients, people));
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

/**
 * Compares the recipients with the one commitment to all of them. An erased one has left its commitments, so
 * the others still match.
 */
function ofPeople(id: string, committed: string | undefined, column: string | null): Contradiction[] {
  const where = `item_recipient/${id}`;
  if (column === null) return committed === undefined ? [] : [{ where, state: 'missing' }];
  const stored = peopleIn(column);
  if (!stored) return [{ where: `intent_body/${id}`, state: 'changed' }];
  if (recipientsCommitment(id, stored)?.toString('hex') !== committed)
    return [
      {
        where,
        state: committed === undefined ? 'unknown' : stored.people.length > 0 ? 'changed' : 'missing',
      },
    ];
  return stored.people
    .filter(isErased)
    .map(({ position }) => ({ where: `${where}/${position}`, state: 'missing' }));
}

/**
 * Parses the recipients of a call. Undefined for text that the journal would not write, which may be
 * ambiguous.
 */
function peopleIn(column: string): StoredPeople | undefined {
  if (!PEOPLE.test(column)) return undefined;
  const [salt = ''] = column.split(':', 1);
  const text = column.slice(salt.length + 1);
  const people = parsed<PersonDocument[]>(text);
  // Text with escapes has other forms with the same meaning.
  if (!people || (text.includes('\\') && JSON.stringify(people) !== text)) return undefined;
  return { people, peopleSalt: salt === '' ? null : Buffer.from(salt, 'hex') };
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
