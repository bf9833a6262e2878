import { Listed } from '../search/cursor';
import { COLUMNS } from './columns';
import { csvLine } from './csv';
import { Format } from './export.dto';
import { ExportRow } from './export-rows';

/** Describes an export, so that anyone with the file can check that it is complete and unchanged. */
export interface Manifest {
  format: Format;
  what: Listed;
  /** The filters of the export. Contacts are masked unless the reader may see people. */
  filters: Record<string, string>;
  /** Number of rows, without the header row of a CSV file. */
  rows: number;
  /** SHA-256 of the file, in hexadecimal. */
  sha256: string;
  checkpoint: ManifestCheckpoint | null;
  /** When the last row was written, by the database's clock. ISO 8601, UTC. */
  exported_at: string;
  /** The id of the access record of this export. */
  access_id: string;
}

/** The log's latest checkpoint when the export ended. */
export interface ManifestCheckpoint {
  size: number;
  /** C2SP signed note. */
  note: string;
  /** Whether it covers every record that existed when the export began. */
  covers_beginning: boolean;
}

export const CONTENT_TYPES: Record<Format, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

/** Returns the text before the first row. */
export function heading(format: Format, listed: Listed): string {
  return format === 'csv' ? csvLine(COLUMNS[listed].map(({ name }) => name)) : '';
}

export function rowsText(format: Format, rows: ExportRow[]): string {
  let text = '';
  if (format === 'csv') for (const row of rows) text += csvLine(Object.values(row));
  else for (const row of rows) text += `${JSON.stringify(row)}\n`;
  return text;
}
