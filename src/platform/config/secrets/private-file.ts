import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes JSON that only its owner may read. Atomic, because a partial file would lose the passwords. */
export function writePrivateJson(file: string, content: object): void {
  const partial = `${file}.partial`;
  rmSync(partial, { force: true }); // an earlier file may have other permissions
  writeFileSync(partial, JSON.stringify(content, null, 2), { mode: 0o600, flush: true });
  renameSync(partial, file);
}
