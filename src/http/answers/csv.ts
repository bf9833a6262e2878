import { Readable } from 'node:stream';
import { FastifyReply } from 'fastify';

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** The byte order mark. Without it, spreadsheets do not recognise UTF-8. */
const BOM = '\ufeff';

/** The line end of RFC 4180, also after the last line. */
const CRLF = '\r\n';

/** First characters of a formula in a spreadsheet, and our own mark, so that it can be removed. */
const DANGEROUS = /^['=+\-@\t\r\n＝＋－＠]/;

const QUOTED = { ',': /[",\r\n]/, ';': /[";\r\n]/ };

/** Spreadsheets of countries with a decimal comma expect the semicolon. */
export const DELIMITERS = { comma: ',', semicolon: ';' } as const;

type Delimiter = keyof typeof QUOTED;

/** The name of a delimiter, as queries have it. */
export type DelimiterName = keyof typeof DELIMITERS;

export type Cell = string | number | null;

/**
 * Returns a line of CSV (RFC 4180). A cell that a spreadsheet would read as a formula begins with an
 * apostrophe. Programs that read the file remove one apostrophe from each cell that begins with one.
 */
export function csvLine(cells: Cell[], delimiter: Delimiter = ','): string {
  let line = '';
  let separator = '';
  for (const cell of cells) {
    line += separator + csvCell(cell, delimiter);
    separator = delimiter;
  }
  return line + CRLF;
}

/** A table for spreadsheets. Its columns have a fixed order, and new columns are added at the end. */
export class CsvTable<Row> {
  constructor(private readonly columns: Record<string, (row: Row) => Cell>) {}

  heading(delimiter: DelimiterName): string {
    return BOM + csvLine(Object.keys(this.columns), DELIMITERS[delimiter]);
  }

  rows(rows: Row[], delimiter: DelimiterName): string {
    const columns = Object.values(this.columns);
    const lineOf = (row: Row) =>
      csvLine(
        columns.map((cell) => cell(row)),
        DELIMITERS[delimiter],
      );
    return rows.map(lineOf).join('');
  }
}

/** Returns the original value of a cell. */
export function withoutMark(cell: string): string {
  return cell.startsWith("'") && DANGEROUS.test(cell.slice(1)) ? cell.slice(1) : cell;
}

function csvCell(cell: Cell, delimiter: Delimiter): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell); // a negative number is not a formula
  const text = cell;
  const harmless = DANGEROUS.test(text) ? `'${text}` : text;
  return QUOTED[delimiter].test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Answers with a CSV file that is sent while it is written. */
export function csvAnswer(reply: FastifyReply, filename: string, text: AsyncIterable<string>): Readable {
  void reply
    .header('content-type', CSV_TYPE)
    .header('content-disposition', `attachment; filename="${filename}"`);
  return Readable.from(text, { objectMode: false });
}
