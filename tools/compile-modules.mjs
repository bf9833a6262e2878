/**
 * Compiles the modules of the proxy, its worker and its commands, as the last step of `npm run
 * build`. Starts take the modules from dist/modules.compiled (src/platform/modules/compiled-modules.ts).
 *
 * V8 compiles a function when it is first called. So this program loads the modules, and creates the
 * application once, without any connection.
 */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';

const ROOT = resolve(import.meta.dirname, '..');

const HELP = `Usage: node tools/compile-modules.mjs [options]

Compiles the modules of a built proxy, so that a start does not need to.

  --out <file>    the file of compiled modules (default: dist/modules.compiled)
  --packs <file>  add the code to a file that has only the text (a step of the above)

Examples:
  node tools/compile-modules.mjs`;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(ROOT, 'dist', 'modules.compiled') },
    packs: { type: 'string' },
    help: { type: 'boolean' },
  },
});

/**
 * What processes load together: for the help of commands, for commands on the database, and for servers. Of
 * a main file, which would run, it is what the file imports.
 */
const GROUPS = [
  ['cli/program.js'],
  ['cli/database/services.js', 'cli/database/migrate.js'],
  ['main.js', 'worker/main.js', 'cli/audit/verify-log.js'],
];

/** A dynamic import outside of a comment, of a file or package. Node finds it from the file that imports. */
const DYNAMIC_IMPORT = /^(?!\s*(?:\*|\/\/|\/\*)).*\bimport\s*\((?!["']node:)/m;

/** Characters that one byte cannot hold. */
const WIDE = /[^\0-\xff]/;

const HEAD = '(function (exports, require, module, __filename, __dirname) {\n';
const TAIL = '\n}),\n';
const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

const inside = (path) => relative(ROOT, path);
const require = createRequire(join(ROOT, 'dist', 'main.js'));

if (values.help) console.log(HELP);
else if (values.packs) await addCode(resolve(values.packs));
else await makeFile(resolve(values.out));

async function makeFile(out) {
  importWithoutParser(join(ROOT, 'dist', 'platform', 'database', 'generated', 'internal', 'class.js'));
  const packs = `${out}.new`;
  writeText(packs, await noteModules());
  // A process of its own loads the modules from the packs.
  const words = [import.meta.filename, '--packs', packs];
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  renameSync(packs, out);
}

async function loadGroup(group) {
  const names = group.flatMap((name) => (name.endsWith('main.js') ? importsOf(name) : name));
  for (const name of names) require(join(ROOT, 'dist', name));
  if (group === GROUPS.at(-1)) await require(join(ROOT, 'dist', 'cli', 'api-document.js')).describeApi();
}

function importsOf(main) {
  const text = readFileSync(join(ROOT, 'dist', main), 'utf8');
  const imports = text.matchAll(/\b(?:require|import)\(["'](\.[^"']+)["']\)/g);
  const names = [...imports].map(([, name]) => join(dirname(main), name));
  return names.filter((name) => basename(name) !== 'of-the-build'); // it would use the previous file
}

/** Loads all modules by Node's own loader, and notes where it finds each. */
async function noteModules() {
  const found = [];
  const find = Module._resolveFilename;
  Module._resolveFilename = (request, parent, isMain, options) => {
    const file = find.call(Module, request, parent, isMain, options);
    if (!options && parent?.path) found.push({ folder: parent.path, request, file });
    return file;
  };
  const modules = new Map();
  for (const [number, group] of GROUPS.entries()) {
    await loadGroup(group);
    for (const file of Object.keys(Module._cache))
      if (!modules.has(file) && file.startsWith(ROOT)) modules.set(file, { group: number, ...read(file) });
  }
  return { found, modules };
}

function read(file) {
  const content = readFileSync(file);
  const source = content.toString();
  const isPacked = /\.c?js$/.test(file) && !DYNAMIC_IMPORT.test(source) && isCommonJs(source);
  const { size: bytes, mtimeMs } = statSync(file);
  const changed = Math.trunc(mtimeMs / 1_000);
  return { source: isPacked ? source : undefined, bytes, changed, hash: hash('sha1', content, 'base64') };
}

function isCommonJs(source) {
  try {
    return Boolean(new vm.Script(Module.wrap(source)));
  } catch {
    return false;
  }
}

/** Writes the modules without code. A group has two packs, because few texts need two bytes a character. */
function writeText(out, { found, modules }) {
  const packs = GROUPS.flatMap(() => [
    { encoding: 'latin1', text: ['[\n'], lines: 1 },
    { encoding: 'utf16le', text: ['[\n'], lines: 1 },
  ]);
  const listed = [];
  for (const [file, { group, source, ...content }] of modules) {
    if (source === undefined) continue;
    const number = group * 2 + (WIDE.test(source) ? 1 : 0);
    const pack = packs[number];
    const place = { pack: number, place: pack.text.length - 1, line: pack.lines + 1 };
    listed.push({ path: inside(file), ...place, ...content });
    pack.text.push(`${HEAD}${source}${TAIL}`);
    pack.lines += pack.text.at(-1).match(LINE_END).length;
  }
  listed.sort((one, other) => one.pack - other.pack || one.line - other.line);
  const numbers = new Map(listed.map(({ path }, number) => [path, number]));
  const requests = {};
  for (const { folder, request, file } of found) {
    const number = numbers.get(inside(file));
    if (number !== undefined) (requests[inside(folder)] ??= {})[request] = number;
  }
  const parts = packs.map(({ encoding, text }) => ({
    encoding,
    text: Buffer.from(`${text.join('')}]`, encoding),
    code: Buffer.alloc(0),
  }));
  write(out, { node: process.version, modules: listed, requests }, parts);
}

/** Loads all modules from their packs, and adds the code that V8 has compiled by then. */
async function addCode(file) {
  setFlagsFromString('--no-flush-bytecode'); // V8 would drop the code of functions that ran once
  const scripts = watchScripts();
  const { useCompiledModules } = require(join(ROOT, 'dist', 'platform', 'modules', 'compiled-modules.js'));
  useCompiledModules(file);
  for (const group of GROUPS) await loadGroup(group);
  const content = readFileSync(file);
  const packsAt = 4 + content.readUInt32LE(0);
  const { packs, ...index } = JSON.parse(content.subarray(4, packsAt));
  const parts = packs.map(({ encoding, textAt, textBytes }, number) => ({
    encoding,
    text: content.subarray(packsAt + textAt, packsAt + textAt + textBytes),
    code: scripts.get(`modules.compiled/${number}`)?.createCachedData() ?? Buffer.alloc(0),
  }));
  write(file, index, parts);
}

/** Keeps each script that is created, by its name. */
function watchScripts() {
  const scripts = new Map();
  const { Script } = vm;
  vm.Script = class extends Script {
    constructor(text, options) {
      super(text, options);
      scripts.set(options?.filename, this);
    }
  };
  return scripts;
}

function write(file, { node, modules, requests }, parts) {
  let at = 0;
  const next = (bytes) => (at += bytes.length) - bytes.length;
  const packs = parts.map(({ encoding, text, code }) => ({
    encoding,
    textAt: next(text),
    textBytes: text.length,
    codeAt: next(code),
    codeBytes: code.length,
  }));
  const index = Buffer.from(JSON.stringify({ node, bytes: at, packs, modules, requests }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  writeFileSync(file, Buffer.concat([length, index, ...parts.flatMap(({ text, code }) => [text, code])]));
}

/**
 * Replaces the dynamic imports of Prisma's generated client. Node would parse the 2.3 MB of its query
 * compiler once more, to find the names that it exports.
 */
function importWithoutParser(file) {
  const source = readFileSync(file, 'utf8');
  const changed = source.replaceAll('await import(', 'await require(');
  if (changed !== source) writeFileSync(file, changed);
}
