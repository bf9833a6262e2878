/**
 * Freezes the migrations of a release, and keeps its program for the tests of the next one.
 *
 * Run it once for each release, on its commit, and commit the result:
 *
 *   npm run build && npm run freeze
 *
 * It adds the checksum of each new migration to `released.json`, and refuses a change of a frozen one. It
 * writes the compiled program to test/released/program.json.br, which
 * test/release/previous-version.full.spec.ts runs on the schema of later commits. It copies the OpenAPI
 * documents to the same folder for tools/breaking-changes.mjs. `--program <checkout>` takes another built
 * checkout, such as that of an earlier release. `--program-only <file>` writes only the program, to another
 * file.
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'vite';

const ROOT = resolve(import.meta.dirname, '..');
const RELEASED = join(ROOT, 'test', 'released');
const PROGRAM = join(RELEASED, 'program.json.br');

const { values } = parseArgs({
  options: { program: { type: 'string', default: ROOT }, 'program-only': { type: 'string' } },
});
const checkout = resolve(values.program);
if (values['program-only'] === undefined) {
  for (const directory of ['prisma/migrations', 'prisma/sandbox/migrations']) freeze(directory);
  keepDocuments();
}
await keepProgram(values['program-only'] ?? PROGRAM);

/** Freezes the migrations that the released checkout has. */
function freeze(directory) {
  const file = join(ROOT, directory, 'released.json');
  const frozen = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  for (const name of migrationsOf(directory)) {
    const text = readFileSync(join(ROOT, directory, name, 'migration.sql'));
    const checksum = createHash('sha256').update(text).digest('hex');
    if ((frozen[name] ?? checksum) !== checksum) {
      throw new Error(
        `${directory}/${name} was changed after its release. Restore it, and add a new migration.`,
      );
    }
    frozen[name] = checksum;
  }
  writeFileSync(file, `${JSON.stringify(frozen, null, 2)}\n`);
}

function migrationsOf(directory) {
  const entries = readdirSync(join(checkout, directory), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** Keeps the OpenAPI documents, which include the accepted changes. */
function keepDocuments() {
  mkdirSync(RELEASED, { recursive: true });
  for (const name of ['openapi.json', 'openapi.staff.json'])
    copyFileSync(join(checkout, name), join(RELEASED, name));
  rmSync(join(RELEASED, 'accepted-changes.txt'), { force: true });
}

/** Bundles the proxy and the worker without packages, which the tests find in node_modules. */
async function keepProgram(file) {
  const { output } = await build({
    root: checkout,
    configFile: false,
    logLevel: 'error',
    ssr: { external: true },
    build: {
      ssr: true,
      write: false,
      minify: true,
      rolldownOptions: {
        input: { main: join(checkout, 'dist/main.js'), worker: join(checkout, 'dist/worker/main.js') },
        external: (id) => !/^[./]/.test(id),
        output: { format: 'cjs', keepNames: true, entryFileNames: '[name].js', chunkFileNames: '[name].js' },
        platform: 'node',
      },
    },
  });
  const files = Object.fromEntries(output.map(({ fileName, code }) => [fileName, code]));
  const folder = 'dist/platform/database/migrations'; // where the program looks for its migrations from
  const program = { migration: migrationsOf('prisma/migrations').at(-1), folder, files };
  mkdirSync(dirname(file), { recursive: true });
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  const packed = brotliCompressSync(JSON.stringify(program), { params });
  rmSync(file, { force: true });
  writeFileSync(file, packed);
  process.stdout.write(`${program.migration}: ${Math.round(packed.length / 1000)} kB\n`);
}
