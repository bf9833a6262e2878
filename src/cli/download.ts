import { open as openFile, rename, rm } from 'node:fs/promises';
import { ClientError } from '../access/clients/client-error';
import { codeOf } from '../platform/errors/error-code';

/**
 * Writes a response to standard output, or to a file that appears only when it is complete.
 * @param advice the next step if the file could not be written.
 */
export async function download({ body }: Response, out: string | undefined, advice: string): Promise<void> {
  if (out === undefined) {
    for await (const chunk of body ?? []) await writeOut(chunk as Uint8Array);
    return;
  }
  const partial = `${out}.partial`;
  try {
    const file = await openFile(partial, 'w', 0o600);
    try {
      for await (const chunk of body ?? []) await file.writeFile(chunk as Uint8Array);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, out);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    throw new ClientError(
      `The file ${out} could not be written (${codeOf(error) ?? 'the connection was lost'}). ${advice}`,
    );
  }
}

/** Writes to standard output, and waits for a slow reader so that the data does not fill the memory. */
export function writeOut(chunk: Uint8Array): Promise<void> {
  return new Promise((done, failed) =>
    process.stdout.write(chunk, (error) => (error ? failed(error) : done())),
  );
}
