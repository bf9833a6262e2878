import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Removes a DATA_DIR and root's Postgres home outside of it. */
export function removeDataDir(dataDir: string): void {
  const home = join(dataDir, 'postgres');
  if (existsSync(home)) rmSync(realpathSync(home), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
