import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The running build: the version of package.json, and the commit written by `npm run build`. */
export const BUILD: Readonly<{ version: string; commit: string }> = Object.freeze({
  version: (read(join(__dirname, '..', '..', 'package.json')) as { version: string }).version,
  commit: (read(join(__dirname, '..', 'build.json')) as { commit?: string }).commit ?? 'unknown',
});

function read(file: string): object {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
}
