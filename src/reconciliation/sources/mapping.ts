import { TRANSACTION_FIELDS, TransactionField } from '../../gateway/upstream/answers/fields';
import { RECIPIENT_FIELDS } from '../../journal/reconciliation/finding-steps';
import { isObject } from '../../platform/json/is-object';
import { readStrictJson } from '../../platform/json/strict-json';
import { maskProse } from '../../platform/privacy/contacts';
import { contactOf, recipientKey, RecipientKind } from '../../recipients/recipient';
import { SourceFault } from './source-read';

/**
 * Fields that a column of a statement can have. A `recipient` is an email, phone, handle or receiver,
 * depending on its form. It comes last, because a field with its own column has precedence.
 */
export type StatementField = TransactionField | 'recipient';
export const STATEMENT_FIELDS = [...Object.keys(TRANSACTION_FIELDS), 'recipient'] as StatementField[];

const PEOPLE_FIELDS: readonly StatementField[] = RECIPIENT_FIELDS;

const NAMES: StatementField[] = ['upstream_ref', 'upstream_id', 'batch_ref', 'reference'];

/** Fields of which a line needs at least one for the comparison. */
const IDENTIFYING = [...NAMES, ...PEOPLE_FIELDS];

const PRESETS = new Map<string, (field: StatementField) => string>([
  ['fields', (field) => field],
  ['upstream', (field) => (field === 'recipient' ? field : TRANSACTION_FIELDS[field])],
]);
export const PRESET_NAMES = [...PRESETS.keys()];

/** Columns by field. Column names are exactly as in the first line. */
export type Columns = Partial<Record<StatementField, string>>;

export interface Mapping {
  columns: Columns;
  /** Whether missing columns are ignored, as with a preset, or an error. */
  lenient: boolean;
  /** Columns that are skipped because they identify recipients. */
  ignored?: Columns;
}

const MAX_COLUMN_NAME = 255;

/**
 * Parses the caller's mapping: the name of a preset, or JSON `{"<field>":"<column>"}`.
 * @throws MappingError that describes the error.
 */
export function readMapping(text: string): Mapping {
  const preset = PRESETS.get(text);
  if (preset) {
    return {
      columns: Object.fromEntries(STATEMENT_FIELDS.map((field) => [field, preset(field)])),
      lenient: true,
    };
  }
  const fields = parse(text);
  const unknown = Object.keys(fields).filter((name) => !(STATEMENT_FIELDS as string[]).includes(name));
  if (unknown.length > 0) throw new MappingError(`must name fields of ${STATEMENT_FIELDS.join(', ')} only`);
  const columns = Object.fromEntries(
    STATEMENT_FIELDS.flatMap((field) => (field in fields ? [[field, fields[field]] as const] : [])),
  );
  for (const column of Object.values(columns)) {
    const isText = typeof column === 'string' && column !== '' && column.length <= MAX_COLUMN_NAME;
    if (!isText || maskProse(column) !== column) {
      throw new MappingError('must give each field the name of a column, which must not be a contact');
    }
  }
  return { columns: checked(columns), lenient: false };
}

/**
 * Returns the mapping without the fields that identify recipients. Otherwise an importer could test guesses,
 * by the lines that match a payment or by findings about its recipient.
 * @throws MappingError if no remaining field allows a comparison.
 */
export function withoutPeople({ columns, lenient }: Mapping): Mapping {
  const ofPeople = (field: string) => (PEOPLE_FIELDS as string[]).includes(field);
  const named = Object.entries(columns);
  const ignored = Object.fromEntries(named.filter(([field]) => ofPeople(field))) as Columns;
  const mapping = {
    columns: Object.fromEntries(named.filter(([field]) => !ofPeople(field))) as Columns,
    lenient,
    ignored,
  };
  checked(mapping.columns, mapping);
  return mapping;
}

export class MappingError extends SourceFault {
  readonly failure = 'bad_mapping';
}

/**
 * Finds the columns of a statement in its first line.
 * @returns the position of each field.
 * @throws MappingError that names the existing columns, except possible contacts.
 */
export function positionsIn(header: string[], mapping: Mapping): Map<StatementField, number> {
  const { columns, lenient } = mapping;
  const names = header.map((name) => name.trim());
  const positions = new Map<StatementField, number>();
  for (const [field, column] of Object.entries(columns) as [StatementField, string][]) {
    const position = names.indexOf(column);
    if (position < 0 && lenient) continue;
    if (position < 0)
      throw new MappingError(`names the column ${column}, which does not exist; ${columnList(names)}`);
    if (names.lastIndexOf(column) !== position) {
      throw new MappingError(`names the column ${column}, which exists twice; rename one of the two`);
    }
    positions.set(field, position);
  }
  try {
    checked(Object.fromEntries(positions), mapping);
  } catch (error) {
    throw new MappingError(`${(error as Error).message}; ${columnList(names)}`);
  }
  return positions;
}

/** Returns whether any of the fields identifies recipients. */
export function identifyPeople(fields: Iterable<StatementField>): boolean {
  return [...fields].some((field) => PEOPLE_FIELDS.includes(field));
}

/** Returns the skipped fields whose column the statement has. */
export function ignoredIn(header: string[], { ignored = {} }: Mapping): StatementField[] {
  const names = new Set(header.map((name) => name.trim()));
  return PEOPLE_FIELDS.filter((field) => ignored[field] !== undefined && names.has(ignored[field]));
}

/** Returns the fields of a transaction on a line. */
export function toFields(
  values: Iterable<readonly [StatementField, string]>,
): Partial<Record<TransactionField, string>> {
  const fields: Partial<Record<TransactionField, string>> = {};
  for (const [field, value] of values) fields[field === 'recipient' ? fieldOf(value) : field] ??= value;
  return fields;
}

/** Returns the field of a recipient by its form. Statements also write phone numbers without +. */
function fieldOf(recipient: string): RecipientKind {
  return contactOf(recipient)?.kind ?? (recipientKey('phone', recipient) === null ? 'receiver' : 'phone');
}

function checked<Fields extends Partial<Record<StatementField, unknown>>>(
  columns: Fields,
  { ignored }: Pick<Mapping, 'ignored'> = {},
): Fields {
  if (columns.amount_usd === undefined) throw new MappingError('must map a column to amount_usd');
  if (ignored && NAMES.every((field) => columns[field] === undefined)) {
    const text = `must map a column to at least one of ${NAMES.join(', ')}`;
    throw new MappingError(`${text}: without the scope audit:pii, your key cannot read recipients`);
  }
  if (IDENTIFYING.every((field) => columns[field] === undefined)) {
    throw new MappingError(`must map a column to at least one of ${IDENTIFYING.join(', ')}`);
  }
  return columns;
}

/** Lists the columns. In a file without a heading, these names are values. */
function columnList(names: string[]): string {
  const shown = names.slice(0, 50).map((name) => (isName(name) ? name : '…'));
  return `its columns are ${shown.join(', ')}`;
}

const UNPRINTABLE = /\p{C}|%40/u;

function isName(cell: string): boolean {
  return cell.length <= 64 && !UNPRINTABLE.test(cell) && maskProse(cell) === cell;
}

function parse(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = readStrictJson(text);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  const example = '{"upstream_ref":"Reference ID","amount_usd":"Amount"}';
  throw new MappingError(`must be one of ${PRESET_NAMES.join(', ')}, or JSON such as ${example}`);
}
