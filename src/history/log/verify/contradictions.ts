import { hash } from 'node:crypto';
import { IntentDocument, ItemDocument, PersonDocument } from '../../../journal/documents';
import { ColumnType, KindName, kindOf } from '../kinds';
import { RecordRow } from './chunks';

/** A difference between the sealed text of a record and the data beside it. */
export interface Contradiction {
  /** The place (`intent_body/<call id>`, …), or the column. */
  where: string;
  state: 'missing' | 'changed' | 'unknown' | 'column_changed';
}

/** The kinds that commit to data beside them: the member with the commitment, and the place of the data. */
const COMMITTED: Partial<Record<KindName, { member: string; place: string }>> = {
  intent: { member: 'body_commitment', place: 'intent_body' },
  outcome: { member: 'body_commitment', place: 'outcome_body' },
  access: { member: 'filters_commitment', place: 'access_filters' },
};

/** The members of a record. Those that are compared are texts and numbers. */
type Members = Record<string, string | number | undefined>;

/** The form of every salt (journal/commitment.ts). With another length, a salt could swallow part of a value. */
const SALT = /^[0-9a-f]{32}$/;

/** Compares a record whose text is verified with the columns that repeat it, and with the data that it commits to. */
export function contradictionsOf(kind: KindName, id: string, row: RecordRow): Contradiction[] {
  const committed = COMMITTED[kind];
  if (!committed) return [];
  const [, , leaf, , bodyHash, people, ...columns] = row;
  const record = parsed<Members>(leaf);
  if (!record) return [{ where: 'record', state: 'column_changed' }];
  const found = [...ofColumns(kind, record, columns)];
  const commitment = (record[committed.member] ?? null) as string | null;
  if (bodyHash !== commitment) {
    const state = bodyHash === null ? 'missing' : commitment === null ? 'unknown' : 'changed';
    found.push({ where: `${committed.place}/${id}`, state });
  }
  if (kind === 'intent') found.push(...ofPeople(id, (record as Partial<IntentDocument>).items ?? [], people));
  return found;
}

function ofColumns(kind: KindName, record: Members, columns: (string | null)[]): Contradiction[] {
  if (columns.length === 0) return [];
  return Object.entries(kindOf(kind).columns).flatMap(([name, type], place) => {
    const isSame = isMember(memberOf(record, name), type, columns[place] ?? null);
    return isSame ? [] : [{ where: name, state: 'column_changed' as const }];
  });
}

/** Returns the member that a column repeats. A call whose answer another call fetched leaves the duration out. */
function memberOf(record: Members, column: string): Members[string] {
  return column === 'upstream_ms' && record.answer_of !== undefined ? undefined : record[column];
}

/** Returns whether a column has the value of a member. A member without a value is left out. */
function isMember(member: Members[string], type: ColumnType, column: string | null): boolean {
  if (member === undefined || column === null) return member === undefined && column === null;
  return type === 'time' ? withMicroseconds(String(member)) === withMicroseconds(column) : String(member) === column;
}

/** Returns an instant without its separators and with all decimals: 2026-11-21 10:00:00.12 has six. */
function withMicroseconds(instant: string): string {
  const [seconds = '', decimals = ''] = instant.replace('T', ' ').replace('Z', '').split('.');
  return `${seconds}.${decimals.padEnd(6, '0')}`;
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
    const isCommitted = (item.email_commitment ?? item.phone_commitment ?? item.handle_commitment) !== undefined;
    if (!person && isCommitted) found.push({ where: where(position), state: 'missing' });
    if (person && !isOpening(item, person)) found.push({ where: where(position), state: 'changed' });
  }
  return found;
}

/** Returns undefined for text that the journal would not write. A reader could find more in it, or something else. */
function personsIn(people: string): PersonDocument[] | undefined {
  const persons = parsed<unknown[]>(people);
  if (!Array.isArray(persons) || !persons.every(isPerson)) return undefined;
  const written = persons.map(({ email, handle, phone, position, salt }) => ({ email, handle, phone, position, salt }));
  return JSON.stringify(written) === people ? persons : undefined;
}

function isPerson(value: unknown): value is PersonDocument {
  const { email = '', handle = '', phone = '', position, salt } = (value ?? {}) as Record<string, unknown>;
  const isText = [email, handle, phone].every((name) => typeof name === 'string');
  return isText && Number.isInteger(position) && typeof salt === 'string' && SALT.test(salt);
}

/** Returns undefined for text that is no JSON object or array. Somebody changed it. */
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
  return hash('sha256', Buffer.concat([Buffer.from(salt, 'hex'), Buffer.from(value)])) === commitment;
}
