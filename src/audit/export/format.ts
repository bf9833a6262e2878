import { Listed } from '../cursor';
import { COLUMNS } from './columns';
import { CRLF, csvLine } from './csv';
import { Format } from './export.dto';
import { Row } from './export-rows';

/** What ends an export, as its last line: without it, the export was broken off. */
export interface Manifest {
  format: Format;
  what: Listed;
  /** As asked; contacts are masked in an export in which they are masked. */
  filters: Record<string, string>;
  rows: number;
  /** Of all bytes before the manifest's line, hexadecimal. */
  sha256: string;
  checkpoint: ManifestCheckpoint | null;
  /** By the proxy's clock. */
  exported_at: string;
  /** The id of the record that this was exported. */
  access_id: string;
}

/** The log's latest checkpoint when the export ended. */
export interface ManifestCheckpoint {
  size: number;
  /** C2SP signed note. */
  note: string;
  /** Whether it covers all that was on record when the export began. */
  covers_beginning: boolean;
}

/** How the manifest's line begins in CSV. */
export const CSV_MANIFEST = '# manifest ';

export const CONTENT_TYPES: Record<Format, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

/** What comes before the first row. */
export function heading(format: Format, listed: Listed): string {
  return format === 'csv' ? csvLine(COLUMNS[listed].map(({ name }) => name)) : '';
}

export function rowsText(format: Format, rows: Row[]): string {
  let text = '';
  if (format === 'csv') for (const row of rows) text += csvLine(Object.values(row));
  else for (const row of rows) text += `${JSON.stringify(row)}\n`;
  return text;
}

/** Its line. */
export function manifestText(manifest: Manifest): string {
  return manifest.format === 'csv'
    ? `${CSV_MANIFEST}${JSON.stringify(manifest)}${CRLF}`
    : `${JSON.stringify({ manifest })}\n`;
}
