import { Listed } from '../search/cursor';
import { COLUMNS } from './columns';
import { CSV_TYPE, csvLine } from '../../http/answers/csv';
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
  csv: CSV_TYPE,
  ndjson: 'application/x-ndjson; charset=utf-8',
};

/** Returns the text before the first row. */
export function heading(format: Format, listed: Listed): string {
  return format === 'csv' ? csvLine(COLUMNS[listed].map(({ name }) => name)) : '';
}

export function rowsText(format: Format, listed: Listed, rows: ExportRow[]): string {
  let text = '';
  if (format === 'csv') for (const row of rows) text += csvLine(row);
  else for (const row of rows) text += jsonLine(NAMES[listed], row);
  return text;
}

/** What precedes the value of each column in a line of JSON. An object of each row would take longer to make. */
const NAMES = { calls: namesOf('calls'), items: namesOf('items') };

function namesOf(listed: Listed): string[] {
  return COLUMNS[listed].map(({ name }, place) => `${place === 0 ? '{' : ','}${JSON.stringify(name)}:`);
}

/** Characters that JSON.stringify may escape: all but those from the space on, without `"`, `\` and surrogates. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function jsonLine(names: string[], row: ExportRow): string {
  let line = '';
  for (let place = 0; place < names.length; place += 1) {
    const cell = row[place];
    // Calling JSON.stringify takes longer than everything else.
    line += names[place];
    if (cell === null) line += 'null';
    else line += typeof cell === 'string' && !ESCAPED.test(cell) ? `"${cell}"` : JSON.stringify(cell);
  }
  return `${line}}\n`;
}
