/** What an export says of itself in its last line. */
interface Manifest {
  rows: number;
  /** Of all bytes before its line, hexadecimal. */
  sha256: string;
}

export interface CheckedExport {
  rows: number;
  /** False where the browser computes no checksums: it does so for pages that come by https or from this very machine. */
  summed: boolean;
}

const CSV_MANIFEST = '# manifest ';
const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BRACE = 0x7b;

/**
 * Compares an export with the manifest at its end.
 * @throws Error that says why it is not whole.
 */
export async function checkExport(file: Blob): Promise<CheckedExport> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const end = bytes.lastIndexOf(NEWLINE, -2) + 1;
  const manifest = manifestIn(new TextDecoder().decode(bytes.subarray(end)));
  if (!manifest) throw new Error('The export broke off: there is no manifest at its end. Nothing was kept; try again.');
  const rows = rowsIn(bytes.subarray(0, end));
  if (rows !== manifest.rows) {
    throw new Error(
      `The export has ${rows} rows, and its manifest says ${manifest.rows}. Nothing was kept; try again.`,
    );
  }
  const summed = (globalThis.crypto as Partial<Crypto>).subtle !== undefined;
  if (summed && (await sha256(bytes.subarray(0, end))) !== manifest.sha256) {
    throw new Error('The export was changed on its way: its SHA-256 is not that of its manifest. Nothing was kept.');
  }
  return { rows, summed };
}

function manifestIn(line: string): Manifest | undefined {
  try {
    if (line.startsWith(CSV_MANIFEST)) return JSON.parse(line.slice(CSV_MANIFEST.length)) as Manifest;
    return (JSON.parse(line) as { manifest?: Manifest }).manifest;
  } catch {
    return undefined;
  }
}

/** In CSV the first line is the heading, and one that ends within quotes goes on; in JSON none does. */
function rowsIn(bytes: Uint8Array): number {
  const isCsv = bytes.length > 0 && bytes[0] !== BRACE;
  let quoted = false;
  let lines = 0;
  for (const byte of bytes) {
    if (byte === QUOTE && isCsv) quoted = !quoted;
    else if (byte === NEWLINE && !quoted) lines += 1;
  }
  return isCsv ? lines - 1 : lines;
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
