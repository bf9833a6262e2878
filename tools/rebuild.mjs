#!/usr/bin/env node
/** Runs the builds whose inputs changed. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const HELP = `Usage: node tools/rebuild.mjs [--built <script>]

Runs npm run build and npm run build:plain if their files changed since the last run. npm test starts with it.

  --built <script>  record that the npm script has run, and build nothing

Examples:
  node tools/rebuild.mjs
  node tools/rebuild.mjs --built build`;

const ROOT = resolve(import.meta.dirname, '..');

/** The inputs of each npm script, and the file that keeps their hash. */
const BUILDS = {
  build: {
    // The compiler's own notes change whenever dist does, such as by `npm run dev`.
    inputs: [
      'src',
      'console',
      'packages',
      'prisma',
      'openapi.json',
      'openapi.staff.json',
      'dist/.tsbuildinfo',
      'tools/compile-modules.mjs',
    ],
    stamp: 'dist/.inputs',
  },
  'build:plain': { inputs: ['bench/baselines/plain'], stamp: 'bench/baselines/plain/dist/.inputs' },
};

/** Inputs of every build: the compiler's settings, and the packages. */
const OF_ALL = [
  'tsconfig.json',
  'tsconfig.build.json',
  'prisma.config.ts',
  'package.json',
  'package-lock.json',
];

/** Results among the inputs. */
const RESULTS = ['generated', 'dist', 'node_modules'];

function filesOf(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => !RESULTS.includes(name));
  return names.flatMap((name) => filesOf(join(path, name)));
}

function hashOf({ inputs }) {
  const hash = createHash('sha256');
  for (const path of [...OF_ALL, ...inputs].flatMap((input) => filesOf(join(ROOT, input))).sort())
    hash.update(`${path}\0`).update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}

const note = (build) => writeFileSync(join(ROOT, build.stamp), hashOf(build));

function isCurrent(build) {
  const stamp = join(ROOT, build.stamp);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOf(build);
}

const [option, script] = process.argv.slice(2);
if (option === '--help') console.log(HELP);
else if (option === '--built') note(BUILDS[script]);
else
  for (const [name, build] of Object.entries(BUILDS)) {
    if (isCurrent(build)) continue;
    const { status } = spawnSync('npm', ['run', name], {
      cwd: ROOT,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
    if (status !== 0) process.exit(status ?? 1);
  }
