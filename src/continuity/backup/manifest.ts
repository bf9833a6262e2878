import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '../../platform/config/config';

/** Describes the other files of a backup. It is written last: a backup without it is incomplete. */
export const MANIFEST = 'backup.json';

/** The format that this program writes and reads. */
const FORMAT = 1;

/** The contents of a backup, and the state of its database. */
export interface Manifest {
  format: typeof FORMAT;
  /** When the snapshot was taken, by the database's clock. ISO 8601. */
  taken_at: string;
  /** The server (database_server) and its version. */
  server: string;
  postgres: string;
  /** Epoch of the history, and number of sealed leaves. */
  epoch: number;
  sealed_size: number;
  /** The applied migrations with the SHA-256 of their files. This program restores their schema. */
  migrations: { name: string; checksum: string }[];
  /** Logins that are members of the roles. A backup has no passwords. */
  logins: { name: string; roles: string[] }[];
  partitions: Partition[];
  /** Last number of each sequence. Null if none was taken. */
  sequences: { name: string; last: string | null }[];
  /** Ordered for checking their references. Empty in a backup without tables. */
  tables: TableCopy[];
  /** The other files, such as the log's key. */
  files: { name: string; sha256: string }[];
}

interface Partition {
  parent: string;
  name: string;
  /** As in CREATE TABLE: `FOR VALUES FROM (…) TO (…)`. */
  bounds: string;
}

/** The rows of one table, as a gzipped file in the text format of COPY. */
export interface TableCopy {
  name: string;
  columns: string[];
  rows: number;
  /** SHA-256 of the file, in hexadecimal. */
  sha256: string;
}

/** The file of a table's rows. */
export const fileOf = (table: string) => join('tables', `${table}.copy.gz`);

/** @throws StartError if the folder is not a complete backup in a format of this program. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new StartError(
      `${folder} is not a complete backup: it has no ${MANIFEST}. Give the folder of a backup.`,
    );
  const manifest = parse(text);
  if (manifest?.format === FORMAT) return manifest as Manifest;
  throw new StartError(
    `${join(folder, MANIFEST)} cannot be read by this program. It is damaged, or a newer program wrote ` +
      'it. Take another copy of the backup, or restore it with the program that wrote it.',
  );
}

export const newManifest = (state: Omit<Manifest, 'format'>): Manifest => ({ format: FORMAT, ...state });

function parse(text: string): { format?: unknown } | undefined {
  try {
    return JSON.parse(text) as { format?: unknown };
  } catch {
    return undefined;
  }
}
