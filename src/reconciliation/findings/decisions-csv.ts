import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { parse, CsvError } from 'csv-parse/sync';
import { withoutMark } from '../../http/answers/csv';
import { toFaults } from '../../http/validation/faults';
import { Fault, Problem } from '../../platform/errors/problem';
import { FindingDecisionDto, MAX_DECISIONS, LocatedDecision } from './decisions.dto';

interface DecisionsInCsv {
  decisions: LocatedDecision[];
  faults: Fault[];
  /** Number of rows without a decision. */
  ignored: number;
}

/** Required columns. */
const REQUIRED_COLUMNS = ['finding_id', 'decision', 'reason'] as const;
const COLUMNS = [...REQUIRED_COLUMNS, 'version'] as const;
type Row = Partial<Record<string, string>>;

/**
 * Reads a file that was edited in a spreadsheet. Accepts any common delimiter, line end and encoding, and any
 * order of rows and columns.
 * @throws Problem `invalid_request` if the file is no table with the required columns.
 */
export function readDecisionsCsv(bytes: Buffer): DecisionsInCsv {
  const rows = parseTable(decoded(bytes));
  const result: DecisionsInCsv = { decisions: [], faults: [], ignored: 0 };
  // Check the limit before the rows: a million bad rows would delay payouts for a minute.
  const decided = rows.filter(({ decision = '' }) => decision !== '').length;
  if (decided > MAX_DECISIONS) {
    throw csvFault(`has ${decided} decisions; at most ${MAX_DECISIONS} fit in one request`);
  }
  for (const [index, row] of rows.entries()) {
    readRow(row, index + 2, result); // the heading is row 1, as spreadsheets count
  }
  if (result.decisions.length === 0 && result.faults.length === 0) {
    throw csvFault('has no decision; write explained, resolved, accepted, or reopened as decision');
  }
  return result;
}

function readRow(row: Row, number: number, result: DecisionsInCsv): void {
  const { decisions, faults } = result;
  const [pointer, prefix] = [`/${number}`, `row ${number}: `];
  const read = (name: (typeof COLUMNS)[number]) => textOf(row[name] ?? '');
  const [state, reason, version] = [
    read('decision').toLowerCase(),
    read('reason'),
    read('version').toLowerCase(),
  ];
  if (state === '') {
    const detail = `${prefix}has a reason but no decision; give both or none`;
    if (reason !== '') faults.push({ pointer: `${pointer}/decision`, detail });
    else result.ignored += Object.values(row).some((cell = '') => cell.trim() !== '') ? 1 : 0;
    return;
  }
  const fields = {
    finding_id: read('finding_id').toLowerCase(),
    state,
    reason,
    ...(version !== '' && { version }),
  };
  const decision = plainToInstance(FindingDecisionDto, fields);
  const wrong = toFaults(validateSync(decision, { forbidUnknownValues: false }));
  if (wrong.length === 0) decisions.push({ ...decision, pointer, prefix });
  for (const { pointer: field, detail } of wrong) {
    const column = field === '/state' ? '/decision' : field; // The column in the file.
    faults.push({ pointer: `${pointer}${column}`, detail: `${prefix}${column.slice(1)} ${detail}` });
  }
}

/** Trims a cell and joins its lines. Spreadsheet users rarely intend line breaks. */
function textOf(cell: string): string {
  return withoutMark(cell)
    .trim()
    .replaceAll(/\s*[\r\n]+\s*/g, ' ');
}

/** Returns the names of the columns in lower case. */
function columnsOf(heading: string[]): string[] {
  const names = heading.map((name) =>
    withoutMark(name)
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, '_'),
  );
  const missing = REQUIRED_COLUMNS.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw csvFault(
      `has no column ${missing.join(', ')}; its first row must be that of GET ` +
        '/v1/reconciliation/findings.csv',
    );
  }
  const twice = COLUMNS.filter((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice.length > 0) throw csvFault(`has the column ${twice.join(', ')} more than once`);
  return names;
}

/** Decodes UTF-8 and the other encodings of spreadsheets: UTF-16 with a byte order mark, and Windows-1252. */
function decoded(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** First line in which some spreadsheets name the delimiter. */
const SEPARATOR_LINE = /^"?sep=(.)"?\r?\n/i;

function parseTable(text: string): Row[] {
  const [line = '', delimiter] = SEPARATOR_LINE.exec(text) ?? [];
  const table = text.slice(line.length);
  if (table === '') columnsOf([]); // The parser reads no heading then.
  try {
    return parse(table, {
      columns: columnsOf,
      delimiter: delimiter ?? delimiterOf(table),
      relax_column_count: true, // A row ends with its last cell.
      relax_quotes: false,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The parser's message quotes the cell, so it is not passed on.
    throw csvFault(
      `is not valid CSV from line ${(error as { lines?: number }).lines ?? 1}: a quotation mark is ` +
        'missing or extra',
    );
  }
}

/** Detects the delimiter from the heading, because no column name contains one. */
function delimiterOf(table: string): string {
  const [heading = ''] = table.split(/[\r\n]/, 1);
  const count = (delimiter: string) => heading.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best));
}

function csvFault(detail: string): Problem {
  return new Problem('invalid_request', { faults: [{ pointer: '', detail: `the file ${detail}` }] });
}
