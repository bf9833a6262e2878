/**
 * Reads the text of an answer of a limited length.
 * @returns undefined for a longer answer. The rest is not read.
 */
export async function readBounded({ body }: Response, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > maxBytes) return undefined; // leaving the loop ends the answer
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString('utf8');
}
