import { createHash } from 'node:crypto';
import { ManifestRecord } from '../history/export/export.dto';
import { ClientError } from '../access/clients/client-error';
import { readStrictJson } from '../platform/json/strict-json';

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BRACE = 0x7b;

/** Reads an export as a stream and compares it with its manifest. */
export class ExportCheck {
  private readonly hash = createHash('sha256');
  private lines = 0;
  private quoted = false;
  private isCsv: boolean | undefined;

  /** Rows read so far, including the header of a CSV file. */
  get rows(): number {
    return this.lines;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.isCsv ??= chunk[0] !== BRACE;
    this.count(chunk);
    this.hash.update(chunk);
  }

  /** @throws ClientError that says how the file differs from the manifest. */
  compare(manifest: ManifestRecord): void {
    const rows = this.lines - (manifest.format === 'csv' ? 1 : 0);
    if (rows !== manifest.rows) {
      throw new ClientError(`The export has ${Math.max(0, rows)} rows, but its manifest says ${manifest.rows}.`);
    }
    if (this.hash.digest('hex') !== manifest.sha256) {
      throw new ClientError('The export was changed: its SHA-256 differs from the one in its manifest.');
    }
  }

  /** Counts rows. In CSV, a row continues on the next line if the line ends inside quotes. */
  private count(bytes: Buffer): void {
    for (const byte of bytes) {
      if (byte === QUOTE && this.isCsv) this.quoted = !this.quoted;
      else if (byte === NEWLINE && !this.quoted) this.lines += 1;
    }
  }
}

/** @throws ClientError unless the text is a manifest. */
export function readManifest(text: string, source: string): ManifestRecord {
  try {
    const manifest = readStrictJson(text) as Partial<ManifestRecord> | null;
    if (typeof manifest?.rows === 'number' && typeof manifest.sha256 === 'string') return manifest as ManifestRecord;
  } catch {
    // reported below
  }
  throw new ClientError(`${source} is not the manifest of an export.`);
}
