import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/**
 * The size from which bodies are compressed. Postgres would compress them too, in ten times the time and to
 * twice the size, and would get them uncompressed.
 */
const COMPRESSED_FROM = 8_192;

/** The fastest coding that also shortens random digits, such as those of IDs. */
const FASTEST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** A body as its row has it. */
export interface StoredBytes {
  body: Uint8Array;
  /** The coding of `body`: Brotli (RFC 7932). Null for the bytes themselves. */
  coding: string | null;
}

/** Returns a body for its row. Random bytes stay as they are. */
export function toStored(body: Buffer): StoredBytes {
  const shorter = body.length < COMPRESSED_FROM ? body : brotliCompressSync(body, FASTEST);
  return shorter.length < body.length ? { body: shorter, coding: 'br' } : { body, coding: null };
}

/**
 * Returns the body of a row.
 * @throws Error if the row was changed to bytes without meaning.
 */
export function fromStored({ body, coding }: StoredBytes): Buffer {
  return coding === null ? Buffer.from(body) : brotliDecompressSync(body);
}

/** Returns the body of a row. Null if the row was changed to bytes without meaning. */
export function readableIn(stored: StoredBytes): Buffer | null {
  try {
    return fromStored(stored);
  } catch {
    return null;
  }
}
