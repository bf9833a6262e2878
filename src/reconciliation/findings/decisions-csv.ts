import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { parse, CsvError } from 'csv-parse/sync';
import { withoutMark } from '../../http/answers/csv';
import { toFaults } from '../../http/validation/faults';
import { Fault, Problem } from '../../platform/errors/problem';
import { FindingDecisionDto, MAX_DECISIONS, PlacedDecision } from './decisions.dto';

interface DecisionsInCsv {
  decisions: PlacedDecision[];
  faults: Fault[];
  /** Number of rows without a decision. */
  ignored: number;
}

/** Required columns. */
const NEEDED = ['finding_id', 'decision', 'reason'] as const;
const READ = [...NEEDED, 'version'] as const;
type Name = (typeof READ)[number];
type ColumnPositions = Partial<Record<Name, number>>;

/**
 * Reads a file that was edited in a spreadsheet. Accepts any common delimiter, line end and encoding, and any
 * order of rows and columns.
 * @throws Problem `invalid_request` if the file is no table with the required columns.
 */
export function readDecisionsCsv(bytes: Buffer): DecisionsInCsv {
  const [heading = [], ...rows] = parseTable(decoded(bytes));
  const places = placesOf(heading);
  const result: DecisionsInCsv = { decisions: [], faults: [], ignored: 0 };
  // Check the limit before the rows: a million bad rows would delay payouts for a minute.
  const decided = rows.filter((cells) => (cells[places.decision ?? 0] ?? '') !== '').length;
  if (decided > MAX_DECISIONS) {
    throw csvFault(`has ${decided} decisions; at most ${MAX_DECISIONS} fit in one request`);
  }
  for (const [index, cells] of rows.entries()) {
    readRow(cells, places, index + 2, result); // the heading is row 1, as spreadsheets count
  }
  if (result.decisions.length === 0 && result.faults.length === 0) {
    throw csvFault(
      'has no decision; write explained, resolved, accepted, or reopened into the column decision',
    );
  }
  return result;
}

function readRow(cells: string[], places: ColumnPositions, row: number, result: DecisionsInCsv): void {
  const { decisions, faults } = result;
  const [pointer, where] = [`/${row}`, `row ${row}: `];
  const read = (name: Name) => {
    const place = places[name];
    return place === undefined ? '' : textOf(cells[place] ?? '');
  };
  const [state, reason, version] = [
    read('decision').toLowerCase(),
    read('reason'),
    read('version').toLowerCase(),
  ];
  if (state === '') {
    if (reason === '') result.ignored += cells.some((cell) => cell.trim() !== '') ? 1 : 0;
    else
      faults.push({
        pointer: `${pointer}/decision`,
        detail: `${where}has a reason but no decision; give both or none`,
      });
    return;
  }
  const given = {
    finding_id: read('finding_id').toLowerCase(),
    state,
    reason,
    ...(version !== '' && { version }),
  };
  const decision = plainToInstance(FindingDecisionDto, given);
  const wrong = toFaults(validateSync(decision, { forbidUnknownValues: false }));
  if (wrong.length === 0) decisions.push({ ...decision, pointer, where });
  for (const { pointer: field, detail } of wrong) {
    const column = field === '/state' ? '/decision' : field; // The column in the file.
    faults.push({ pointer: `${pointer}${column}`, detail: `${where}${column.slice(1)} ${detail}` });
  }
}

/** Trims a cell and joins its lines. Spreadsheet users rarely intend line breaks. */
function textOf(cell: string): string {
  return withoutMark(cell)
    .trim()
    .replaceAll(/\s*[\r\n]+\s*/g, ' ');
}

function placesOf(heading: string[]): ColumnPositions {
  const names = heading.map((name) =>
    withoutMark(name)
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, '_'),
  );
  const missing = NEEDED.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw csvFault(
      `has no column ${missing.join(', ')}; its first row must be that of GET ` +
        '/v1/reconciliation/findings.csv',
    );
  }
  const twice = READ.filter((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice.length > 0) throw csvFault(`has the column ${twice.join(', ')} more than once`);
  return Object.fromEntries(
    READ.flatMap((name) => (names.includes(name) ? [[name, names.indexOf(name)]] : [])),
  );
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

function parseTable(text: string): string[][] {
  const [line = '', said] = SEPARATOR_LINE.exec(text) ?? [];
  const table = text.slice(line.length);
  try {
    return parse(table, {
      delimiter: said ?? delimiterOf(table),
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
