import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

const ROOT = join(__dirname, '..', '..', '..');
const KEPT = join(ROOT, 'test', 'released', 'program.json.br');

/** A compiled program, as written by `npm run freeze`. */
export interface ReleasedProgram {
  /** The folder to remove afterwards. */
  directory: string;
  /** The last migration that the program knows. */
  migration: string;
  main: string;
  worker: string;
}

/** Unpacks the program of the last release with its migrations, next to the packages of this checkout. */
export function unpackReleased(): ReleasedProgram {
  const directory = mkdtempSync(join(tmpdir(), 'payout-proxy-released-'));
  const { migration, folder, files } = JSON.parse(brotliDecompressSync(readFileSync(KEPT)).toString()) as {
    migration: string;
    folder: string;
    files: Record<string, string>;
  };
  const program = join(directory, folder);
  mkdirSync(program, { recursive: true });
  for (const [name, code] of Object.entries(files)) writeFileSync(join(program, name), code);
  const migrations = readdirSync(join(ROOT, 'prisma', 'migrations'), { withFileTypes: true });
  for (const { name } of migrations.filter((entry) => entry.isDirectory() && entry.name <= migration)) {
    const path = join('prisma', 'migrations', name);
    cpSync(join(ROOT, path), join(directory, path), { recursive: true });
  }
  symlinkSync(join(ROOT, 'dist'), join(program, '..', '..', 'dist')); // The page of the console.
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  return { directory, migration, main: join(program, 'main.js'), worker: join(program, 'worker.js') };
}
