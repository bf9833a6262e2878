/**
 * npm run freeze: makes the release that package.json names of this commit, and keeps its program for the
 * tests of the next one.
 *
 * Run it once for each release, on its commit without changes, and commit the result:
 *
 *   npm run build && npm run freeze
 *
 * It adds the checksum of each new migration to `released.json`, and refuses a change of a frozen one. It
 * writes the compiled program to test/released/program.json.br, which
 * test/release/previous-version.full.spec.ts runs on the schema of later commits. It copies the OpenAPI
 * documents to the same folder for tools/breaking-changes.mjs. It turns the unreleased changes of
 * CHANGELOG.md into the section of the version. `--program <checkout>` takes the program of another built
 * checkout, such as that of an earlier release, and leaves CHANGELOG.md.
 */
import { execFileSync } from 'node:child_process';
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
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'vite';

const ROOT = resolve(import.meta.dirname, '..');
const RELEASED = join(ROOT, 'test', 'released');
const PROGRAM = join(RELEASED, 'program.json.br');
const DOCUMENTS = ['openapi.json', 'openapi.staff.json'];
const CHANGELOG = join(ROOT, 'CHANGELOG.md');
const UNRELEASED = '## [Unreleased]\n';

const { values } = parseArgs({ options: { program: { type: 'string' } } });
const checkout = resolve(values.program ?? ROOT);
const version = readJson('package.json').version;
requireOneVersion();
requireBuildOfCommit();
const changelog = values.program === undefined ? changelogWithSection() : undefined;
for (const directory of ['prisma/migrations', 'prisma/sandbox/migrations']) freeze(directory);
keepDocuments();
await keepProgram();
if (changelog !== undefined) writeFileSync(CHANGELOG, changelog);
process.stdout.write(`${version} is frozen. Read the diff, commit it, and tag the commit v${version}.\n`);

function readJson(path) {
  return JSON.parse(readFileSync(join(checkout, path), 'utf8'));
}

function requireOneVersion() {
  const versions = {
    'packages/sdk/package.json': readJson('packages/sdk/package.json').version,
    ...Object.fromEntries(DOCUMENTS.map((name) => [name, readJson(name).info.version])),
  };
  for (const [path, other] of Object.entries(versions)) {
    if (other !== version) throw new Error(`${path} has the version ${other}, and package.json ${version}.`);
  }
}

/** The program must be the one that the commit describes. */
function requireBuildOfCommit() {
  const args = ['describe', '--always', '--abbrev=40', '--exclude=*', '--dirty'];
  const commit = execFileSync('git', args, { cwd: checkout }).toString().trim();
  if (commit.endsWith('-dirty')) throw new Error('The checkout has changes. Commit them first.');
  const built = readJson('dist/build.json').commit;
  if (built !== commit) throw new Error(`dist is of ${built}. Run npm run build at ${commit} first.`);
}

/** Returns the changelog with the unreleased changes in the section of the version. */
function changelogWithSection() {
  const text = readFileSync(CHANGELOG, 'utf8');
  if (text.includes(`\n## [${version}]`))
    throw new Error(`${version} is released. Raise the version in package.json and packages/sdk first.`);
  if (!text.includes(UNRELEASED)) throw new Error('CHANGELOG.md has no section [Unreleased].');
  const today = new Date().toISOString().slice(0, 10);
  return text.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${today}\n`);
}

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
  for (const name of DOCUMENTS) copyFileSync(join(checkout, name), join(RELEASED, name));
  rmSync(join(RELEASED, 'accepted-changes.txt'), { force: true });
}

/** Bundles the proxy and the worker without packages, which the tests find in node_modules. */
async function keepProgram() {
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
  const program = { version, migration: migrationsOf('prisma/migrations').at(-1), folder, files };
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  const packed = brotliCompressSync(JSON.stringify(program), { params });
  writeFileSync(PROGRAM, packed);
  process.stdout.write(`${version}, ${program.migration}: ${Math.round(packed.length / 1000)} kB\n`);
}
