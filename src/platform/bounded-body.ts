/**
 * Reads a body of a limited length.
 * @returns undefined for a longer body. The rest is not read.
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined; // leaving the loop ends the body
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
