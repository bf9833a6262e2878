/** RFC 4180: lines end so, the last one too. */
export const CRLF = '\r\n';

/** What makes a spreadsheet take a cell for a formula, full-width forms included; and our own mark, so that it can be undone. */
const DANGEROUS = /^['=+\-@\t\r\n＝＋－＠]/;

const QUOTED = { ',': /[",\r\n]/, ';': /[";\r\n]/ };

/** Spreadsheets of countries that write 1,5 want the semicolon. */
export type Delimiter = keyof typeof QUOTED;

export type Cell = string | number | null;

/**
 * A line of CSV (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe: who reads it by
 * machine takes one apostrophe away from each cell that begins with one.
 */
export function csvLine(cells: Cell[], delimiter: Delimiter = ','): string {
  let line = '';
  for (const [place, cell] of cells.entries()) line += (place === 0 ? '' : delimiter) + csvCell(cell, delimiter);
  return line + CRLF;
}

/** What stood in a cell before it was made harmless. */
export function withoutMark(cell: string): string {
  return cell.startsWith("'") && DANGEROUS.test(cell.slice(1)) ? cell.slice(1) : cell;
}

function csvCell(cell: Cell, delimiter: Delimiter): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell); // a negative one is no formula
  const text = cell;
  const harmless = DANGEROUS.test(text) ? `'${text}` : text;
  return QUOTED[delimiter].test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
