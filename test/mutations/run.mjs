/** Removes one guard at a time in a copy of the project, and expects its test to fail. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import typescript from 'typescript';
import { GUARDS } from './guards.mjs';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Packages are linked instead, and data directories are skipped. */
const NOT_COPIED = ['node_modules', '.git', '.data'].map((name) => join(ROOT, name));

/** Maximum number of schedules per guard. Enough for each event of the model to occur repeatedly. */
const SCHEDULES = 400;

/** Errors of the edit itself, which prevent any run without the guard. */
const BROKEN = new RegExp(
  '(Syntax|Reference)Error|is not a function|Cannot find module|' +
    'ended with \\S+ before it said|dist is missing',
);

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    schedules: { type: 'string', default: String(SCHEDULES) },
    seed: { type: 'string', default: '20261121' },
    list: { type: 'boolean' },
    check: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  console.log(`Usage: npm run test:breaks -- [options]

Removes one guard at a time in a copy of the project, and runs the test that must detect it. Fails if a test
does not.

  --only <name>        run only this guard; repeatable
  --schedules <count>  maximum number of schedules of the model per guard (default: ${SCHEDULES})
  --seed <number>      seed of the schedules
  --list               list the guards and the tests that detect their removal
  --check              check only that each guard's source text and test exist

Examples:
  npm run test:breaks
  npm run test:breaks -- --only lease --only recovered-keys
  npm run test:breaks -- --list`);
  process.exit();
}

if (values.list) {
  for (const { name, guards, noticedBy } of GUARDS)
    console.log(`${name.padEnd(26)} ${noticedBy.padEnd(40)} ${guards}`);
  process.exit();
}

if (values.check) {
  const faults = GUARDS.flatMap(({ name, edits, noticedBy, test }) => [
    ...edits
      .filter(([file, text]) => timesIn(ROOT, file, text) !== 1)
      .map(([file]) => `${name}: text not found exactly once in ${file}`),
    ...(noticedBy === 'model' || hasTest(noticedBy, test)
      ? []
      : [`${name}: ${noticedBy} or its test is missing`]),
    ...(GUARDS.filter((guard) => guard.name === name).length > 1 ? [`${name}: the name is not unique`] : []),
  ]);
  console.log(faults.length > 0 ? faults.join('\n') : `${GUARDS.length} guards are in place.`);
  process.exit(faults.length > 0 ? 1 : 0);
}

const chosen = GUARDS.filter(({ name }) => !values.only || values.only.includes(name));
if (chosen.length === 0 || (values.only && chosen.length < values.only.length)) {
  console.error('Unknown guard. Run npm run test:breaks -- --list.');
  process.exit(2);
}

const copy = mkdtempSync(join(tmpdir(), 'payout-proxy-mutations-'));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
cpSync(ROOT, copy, { recursive: true, filter: (path) => !NOT_COPIED.includes(path) });
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));

let unnoticed = 0;
for (const [index, guard] of chosen.entries()) {
  process.stdout.write(`${String(index + 1).padStart(2)}/${chosen.length} ${guard.name.padEnd(26)} `);
  const started = Date.now();
  const { how, detail } = detection(guard);
  if (how !== 'noticed') unnoticed += 1;
  console.log(
    `${how.padEnd(12)} ${String(Math.round((Date.now() - started) / 1_000)).padStart(4)} s  ${detail}`,
  );
}
console.log(`${chosen.length - unnoticed} of ${chosen.length} removed guards were detected.`);
process.exitCode = unnoticed === 0 ? 0 : 1;

/** Runs the test of a guard without the guard. A single test must first pass alone, with the guard. */
function detection(guard) {
  if (guard.test !== undefined && judged(guard).how !== 'UNNOTICED')
    return { how: 'BROKEN', detail: 'the test fails on its own, with the guard in place' };
  const changed = applied(guard);
  const found = judged(guard);
  for (const [path, text] of changed) write(path, text);
  return found;
}

/** Returns whether a spec file has a test with these words. `%s` of a table matches any words. */
function hasTest(spec, words) {
  if (!existsSync(join(ROOT, spec))) return false;
  if (words === undefined) return true;
  const titles = [...readFileSync(join(ROOT, spec), 'utf8').matchAll(/\(\s*(['"`])((?:(?!\1).)+)\1/g)];
  return titles.some(
    ([, , title]) =>
      title.includes(words) || new RegExp(`^${escaped(title).replaceAll('%s', '.+')}$`).test(words),
  );
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Edits the copy. @returns the original files. */
function applied({ name, edits }) {
  const before = new Map();
  for (const [path, text, replacement] of edits) {
    const source = readFileSync(join(copy, path), 'utf8');
    if (timesIn(copy, path, text) !== 1) throw new Error(`${name}: text not found exactly once in ${path}`);
    if (!before.has(path)) before.set(path, source);
    write(
      path,
      source.replace(wrapped(text), () => replacement),
    );
  }
  return before;
}

function timesIn(folder, path, text) {
  return readFileSync(join(folder, path), 'utf8').split(wrapped(text)).length - 1;
}

/** Returns a pattern that matches a text however its lines are wrapped. Space at its ends is literal. */
function wrapped(text) {
  const [, start, words, end] = /^(\s*)([^]*?)(\s*)$/.exec(text);
  return new RegExp(start + escaped(words).replaceAll(/\s+/g, '\\s+') + end);
}

/** Writes a source file and its compiled form, which processes run. */
function write(path, source) {
  writeFileSync(join(copy, path), source);
  if (!path.startsWith('src/')) return;
  const built = join(copy, path.replace(/^src/, 'dist').replace(/\.ts$/, '.js'));
  mkdirSync(dirname(built), { recursive: true });
  const compilerOptions = {
    target: typescript.ScriptTarget.ES2022,
    module: typescript.ModuleKind.CommonJS,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    useDefineForClassFields: false,
    esModuleInterop: true,
  };
  const options = { compilerOptions, fileName: path, reportDiagnostics: true };
  const { outputText, diagnostics = [] } = typescript.transpileModule(source, options);
  if (diagnostics.length > 0) throw new Error(`${path} cannot be compiled`);
  writeFileSync(built, outputText);
}

/** Runs the test of a guard, and returns its result. A test that cannot run has detected nothing. */
function judged({ noticedBy, test, disaster }) {
  const isModel = noticedBy === 'model';
  const results = join(copy, 'results.json');
  rmSync(results, { force: true });
  const args = [
    'node_modules/jest/bin/jest.js',
    isModel ? 'test/model/model.spec.ts' : noticedBy,
    ...(test === undefined ? [] : ['-t', escaped(test)]),
    '--forceExit',
    '--json',
    `--outputFile=${results}`,
  ];
  const model = { MODEL_SCHEDULES: values.schedules, MODEL_SEED: values.seed, MODEL_DISASTER: disaster };
  const env = { ...process.env, ...(isModel && model) };
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: copy,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  const { testResults = [] } = readResults(results);
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed'),
  );
  const [first] = failed;
  // A failed test may leave a connection whose end aborts the whole run.
  const [, title] = /✕ (.+?)(?: \(\d+ ms\))?$/m.exec(stderr) ?? [];
  if (testResults.length === 0 && title !== undefined) return { how: 'noticed', detail: title };
  if (!first)
    return {
      how: testResults.length > 0 ? 'UNNOTICED' : 'BROKEN',
      detail: testResults[0]?.message.slice(0, 200) ?? '',
    };
  const message = first.failureMessages.join('\n');
  if (/Inconclusive|came to no end/.test(message)) return { how: 'INCONCLUSIVE', detail: firstLine(message) };
  if (BROKEN.test(message)) return { how: 'BROKEN', detail: firstLine(message) };
  if (!isModel) return { how: 'noticed', detail: first.title };
  const schedules = [...stdout.matchAll(/^(\d+) schedules:/gm)].at(-1)?.[1] ?? '0';
  return {
    how: 'noticed',
    detail: `after ${schedules} schedules: ${firstLine(message.split('\n').slice(1).join('\n'))}`,
  };
}

function readResults(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

function firstLine(text) {
  return (
    text
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.slice(0, 160) ?? ''
  );
}
