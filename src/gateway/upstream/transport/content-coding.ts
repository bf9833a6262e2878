import { pipeline, Readable, Transform } from 'node:stream';
import { BrotliOptions, createBrotliDecompress, createGunzip, createInflate, ZlibOptions } from 'node:zlib';
import { codeOf } from '../../../platform/errors/error-code';

type Decoder = (options?: ZlibOptions & BrotliOptions) => Transform;

/** The codings of RFC 9110, section 8.4.1, that Node.js decodes, and Brotli (RFC 7932). */
const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Limit of stacked codings. A server never uses more, even by mistake. */
const MAX_CODINGS = 2;

/**
 * Returns the streams that decode a body, in order. The proxy requests no coding, but some servers and
 * intermediaries use one anyway.
 * @param coding the header Content-Encoding.
 * @returns undefined for an unknown coding.
 */
export function decodersOf(coding: string | null): Transform[] | undefined {
  const names = (coding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const used = names.filter((name) => name !== '' && name !== 'identity').reverse();
  const decoders = used.flatMap((name) => DECODERS.get(name) ?? []);
  if (decoders.length < used.length || used.length > MAX_CODINGS) return undefined;
  return decoders.map((create) => create());
}

/** Returns whether an error of such a stream shows a broken or truncated coding. */
export function isCodingFault(error: unknown): boolean {
  return /^(Z_|ERR__|ERR_BROTLI)/.test(codeOf(error) ?? '');
}

/** Returns the bytes of a source, decoded as they are read. */
export function decodedBy(decoders: Transform[], source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  // The last stream ends with the errors of all earlier ones.
  return decoders.reduce((stream, decoder) => pipeline(stream, decoder, () => undefined), source);
}

/**
 * Decodes a body.
 * @returns undefined if it is not decodable, or longer than `maxBytes` when decoded.
 */
export async function decoded(
  body: Buffer,
  coding: string | null,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const decoders = decodersOf(coding);
  if (!decoders?.length) return decoders && body;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decodedBy(decoders, Readable.from([body]))) {
      size += chunk.length;
      if (size > maxBytes) return undefined; // decodes no more
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks, size);
}
