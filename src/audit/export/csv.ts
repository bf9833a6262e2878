/** RFC 4180: lines end so, the last one too. */
export const CRLF = '\r\n';

/** What makes a spreadsheet take a cell for a formula, full-width forms included; and our own mark, so that it can be undone. */
const DANGEROUS = /^['=+\-@\t\r\n＝＋－＠]/;

const QUOTED = /[",\r\n]/;

export type Cell = string | number | null;

/**
 * A line of CSV (RFC 4180). A cell that a spreadsheet would take for a formula begins with an apostrophe: who reads it by
 * machine takes one apostrophe away from each cell that begins with one.
 */
export function csvLine(cells: Cell[]): string {
  let line = '';
  for (const [place, cell] of cells.entries()) line += (place === 0 ? '' : ',') + csvCell(cell);
  return line + CRLF;
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  const text = String(cell);
  const harmless = DANGEROUS.test(text) ? `'${text}` : text;
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
