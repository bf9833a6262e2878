import { createHash } from 'node:crypto';
import { CSV_MANIFEST, Manifest } from '../audit/export/format';
import { ClientError } from '../clients/client-error';

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BRACE = 0x7b;

/** Longer than any manifest: what is no export must not be kept as its last line. */
const MAX_LINE_BYTES = 1_024 * 1_024;

/** Reads an export as it comes, and compares it with the manifest at its end. */
export class ExportCheck {
  private readonly hash = createHash('sha256');
  /** What has come since the last line that ended: the manifest, in the end. */
  private last = Buffer.alloc(0);
  private lines = 0;
  private quoted = false;
  private isCsv: boolean | undefined;

  /** Rows so far; of CSV also its heading. */
  get rows(): number {
    return this.lines;
  }

  push(chunk: Buffer): void {
    this.isCsv ??= chunk[0] !== BRACE;
    const bytes = this.last.length === 0 ? chunk : Buffer.concat([this.last, chunk]);
    const end = bytes.lastIndexOf(NEWLINE, -2) + 1; // that of the last line itself, should it be there, is not looked for
    this.count(bytes.subarray(0, end));
    this.hash.update(bytes.subarray(0, end));
    this.last = Buffer.from(bytes.subarray(end));
    if (this.last.length > MAX_LINE_BYTES) throw new ClientError('this is no export: it has a line that never ends');
  }

  /** @throws ClientError that says why it is not whole. */
  end(): Manifest {
    const manifest = manifestIn(this.last.toString('utf8'));
    if (!manifest) throw new ClientError('the export broke off: there is no manifest at its end');
    const rows = this.lines - (manifest.format === 'csv' ? 1 : 0);
    if (this.hash.digest('hex') !== manifest.sha256)
      throw new ClientError('the export was changed: its SHA-256 is not that of its manifest');
    if (rows !== manifest.rows)
      throw new ClientError(`the export has ${rows} rows, and its manifest says ${manifest.rows}`);
    return manifest;
  }

  /** In CSV, a line that ends within quotes goes on; in JSON none does. */
  private count(bytes: Buffer): void {
    for (let place = 0; place < bytes.length; place += 1) {
      const byte = bytes[place];
      if (byte === QUOTE && this.isCsv) this.quoted = !this.quoted;
      else if (byte === NEWLINE && !this.quoted) this.lines += 1;
    }
  }
}

function manifestIn(line: string): Manifest | undefined {
  try {
    if (line.startsWith(CSV_MANIFEST)) return JSON.parse(line.slice(CSV_MANIFEST.length)) as Manifest;
    return (JSON.parse(line) as { manifest?: Manifest }).manifest;
  } catch {
    return undefined;
  }
}
