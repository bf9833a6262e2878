import { Cell, CSV_TYPE, csvLine } from '../../http/answers/csv';
import { Present } from '../../operations/lifecycle/lifecycle';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { PayoutPosition } from '../records/records.service';
import { ResultKind } from '../search/search.dto';
import { Column, COLUMNS } from './columns';
import { Format } from './export.dto';
import { ExportedCall, itemOf, readExportedCalls } from './exported-call';

/** Cells in the order of the columns. */
export type ExportRow = Cell[];

/** Reads the export rows of these calls or payouts from the records, in the given order. */
export async function readRows(
  prisma: ReaderPrisma,
  listed: ResultKind,
  places: PayoutPosition[],
  reveal: boolean,
  present: Present,
): Promise<ExportRow[]> {
  const calls = await readExportedCalls(prisma, listed, [...new Set(places.map(({ id }) => id))], present);
  return places.flatMap(({ id, position }) => {
    const call = calls.get(id);
    if (!call) return []; // It was pruned in the meantime.
    if (listed === 'calls') return [toRow(call.refusal ? asRefused(call) : call, COLUMNS.calls, reveal)];
    const item = position === null ? undefined : itemOf(call, position);
    return item ? [toRow({ call, ...item }, COLUMNS.items, reveal)] : [];
  });
}

/** Replaces the intent of a call by its refusal, if it has both (../records/records.service.ts). */
function asRefused(call: ExportedCall): ExportedCall {
  return { ...call, intent: null, outcome: null, decision: null, settlements: [] };
}

function toRow<Row>(from: Row, columns: readonly Column<Row>[], reveal: boolean): ExportRow {
  return columns.map(({ of, mask }) => {
    const value = of(from) ?? null;
    return mask && !reveal && typeof value === 'string' ? mask(value) : value;
  });
}

export const CONTENT_TYPES: Record<Format, string> = {
  csv: CSV_TYPE,
  ndjson: 'application/x-ndjson; charset=utf-8',
};

/** Returns the text before the first row. */
export function heading(format: Format, listed: ResultKind): string {
  return format === 'csv' ? csvLine(COLUMNS[listed].map(({ name }) => name)) : '';
}

export function rowsText(format: Format, listed: ResultKind, rows: ExportRow[]): string {
  let text = '';
  if (format === 'csv') for (const row of rows) text += csvLine(row);
  else for (const row of rows) text += jsonLine(NAMES[listed], row);
  return text;
}

/** Text before each value in a line of JSON. Faster than an object per row. */
const NAMES = { calls: namesOf('calls'), items: namesOf('items') };

function namesOf(listed: ResultKind): string[] {
  return COLUMNS[listed].map(({ name }, place) => `${place === 0 ? '{' : ','}${JSON.stringify(name)}:`);
}

/** Characters that JSON.stringify may escape: all except space and above, without `"`, `\` and surrogates. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function jsonLine(names: string[], row: ExportRow): string {
  let line = '';
  for (let place = 0; place < names.length; place += 1) {
    const cell = row[place];
    // JSON.stringify would take longer than everything else.
    line += names[place];
    if (cell === null) line += 'null';
    else line += typeof cell === 'string' && !ESCAPED.test(cell) ? `"${cell}"` : JSON.stringify(cell);
  }
  return `${line}}\n`;
}
