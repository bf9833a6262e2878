/**
 * Makes a folder from which a built proxy runs on any machine that has Node. `npm run build:release` builds,
 * and runs it.
 *
 * The folder has the built files, the migrations, the units and scripts of deploy, and the packages that npm
 * would install with `--omit=dev --omit=optional`, as package-lock.json lists them. Nothing is fetched, so
 * that the folder has what was built and tested here, and the server needs no registry.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = resolve(import.meta.dirname, '..');

const HELP = `Usage: npm run build:release -- [options]

Makes a folder that contains everything a proxy needs, except Node and a database.

  --out <folder>  the folder, which is replaced (default: release)

Examples:
  npm run build:release
  npm run build:release -- --out /tmp/payout-proxy`;

/** Files that the program reads at run time, in addition to its packages. */
const FOLDERS = ['dist', 'prisma/migrations', 'prisma/sandbox/migrations', 'deploy'];
const FILES = ['LICENSE', 'CHANGELOG.md'];

/** Prisma's query compilers for other databases, which are a third of all packages. */
const OTHER_DATABASES =
  /^node_modules\/@prisma\/client\/runtime\/query_compiler_\w+\.(cockroachdb|mysql|sqlite|sqlserver)\./;

const { values } = parseArgs({
  options: { out: { type: 'string', default: 'release' }, help: { type: 'boolean' } },
});

if (values.help) console.log(HELP);
else makeRelease(resolve(values.out));

function makeRelease(out) {
  if (!existsSync(join(ROOT, 'dist', 'console', 'page')))
    throw new Error('dist is incomplete. Run npm run build first.');
  if (existsSync(out) && !existsSync(join(out, 'dist', 'main.js'))) {
    throw new Error(
      `${out} is no release, so it is not replaced. Name another folder with --out, or remove it.`,
    );
  }
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const path of [...FOLDERS, ...FILES, ...packages()]) copy(path, out);
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

function copy(path, out) {
  const filter = (from) => isWanted(relative(ROOT, from), path);
  // Modules of an unchanged time are those that the build compiled.
  cpSync(join(ROOT, path), join(out, path), { recursive: true, preserveTimestamps: true, filter });
}

/** Returns whether to copy a path. A package in another one has its own entry in package-lock.json. */
function isWanted(path, copied) {
  const isOfAnother = path.startsWith(`${copied}/node_modules`);
  return !isOfAnother && !OTHER_DATABASES.test(path) && !path.startsWith('dist/.'); // notes of the build
}

/** Returns the folders of the packages that a proxy needs to run. */
function packages() {
  const { packages: locked } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const isNeeded = ([path, { dev, optional, devOptional, link }]) =>
    path.startsWith('node_modules/') && !dev && !optional && !devOptional && !link;
  return Object.entries(locked)
    .filter(isNeeded)
    .map(([path]) => path);
}

/** Returns a package.json without the parts that only builds and tests need. */
function manifest() {
  const { scripts, ...all } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const { name, version, description, license, engines, dependencies } = all;
  const { start, worker, cli } = scripts;
  return {
    name,
    version,
    private: true,
    description,
    license,
    engines,
    scripts: { start, worker, cli },
    dependencies,
  };
}
