const Module = require('node:module');
const { dirname, join } = require('node:path');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { setTimeout } = require('node:timers');
const v8 = require('node:v8');
const { Script } = require('node:vm');

/**
 * Preloaded into the processes that tests start (see process.ts), all of which load the same 1,500 modules: a
 * third of the CPU of a start is to find and to compile them. The first process of an entry script keeps what
 * it found and compiled; the others take it from there. global-setup.ts copies this file into a folder of its
 * own for each run, so that no change is missed.
 */
const file = join(module.path, process.argv[1].replace(/\W/g, '_'));

/** A process in which no module was loaded for so long has started. */
const STARTED_MS = 300;

/** Offset of V8's hash of its flags in compiled code. The product changes only flags of memory. */
const FLAGS_OFFSET = 12;

const load = Module._extensions['.js'];
const resolve = Module._resolveFilename;

/** Runs a module as Node's own loader does. */
function run(module, filename, script) {
  const require = (id) => module.require(id);
  require.resolve = (request, options) => Module._resolveFilename(request, module, false, options);
  require.main = process.mainModule;
  require.extensions = Module._extensions;
  require.cache = Module._cache;
  const { exports } = module;
  script.runInThisContext().call(exports, exports, require, module, filename, dirname(filename));
}

function use() {
  const bytes = readFileSync(file);
  const head = 4 + bytes.readUInt32LE(0);
  const { resolved, modules } = JSON.parse(bytes.toString('utf8', 4, head));
  Module._resolveFilename = function (request, parent, ...more) {
    const known = more[1] ? undefined : resolved[keyOf(request, parent)];
    return known ?? resolve.call(this, request, parent, ...more);
  };
  let flags;
  const { setFlagsFromString } = v8;
  v8.setFlagsFromString = (flag) => {
    setFlagsFromString(flag);
    flags = undefined;
  };
  Module._extensions['.js'] = (module, filename) => {
    if (!(filename in modules)) return load(module, filename);
    const [at, length, codeLength, encoding] = modules[filename];
    const code = head + at + length;
    const cachedData = bytes.subarray(code, code + codeLength);
    flags ??= new Script('').createCachedData().readUInt32LE(FLAGS_OFFSET);
    cachedData.writeUInt32LE(flags, FLAGS_OFFSET);
    run(module, filename, new Script(bytes.toString(encoding, head + at, code), { filename, cachedData }));
  };
}

function record() {
  const resolved = {};
  const scripts = new Map();
  const started = setTimeout(() => write({ resolved, scripts }), STARTED_MS).unref();
  Module._resolveFilename = function (request, parent, ...more) {
    const found = resolve.call(this, request, parent, ...more);
    if (!more[1]) resolved[keyOf(request, parent)] = found;
    return found;
  };
  Module._extensions['.js'] = (module, filename) => {
    started.refresh();
    const source = Module.wrap(readFileSync(filename, 'utf8').replace(/^#!.*/, ''));
    // A dynamic import needs Node's own loader.
    const script = source.includes('import(') ? undefined : compile(source, filename);
    if (!script) return load(module, filename);
    scripts.set(filename, { source, script });
    run(module, filename, script);
  };
}

/** Compiles a CommonJS module. Returns undefined for an ES module, which Node rejects with its own error. */
function compile(source, filename) {
  try {
    return new Script(source, { filename });
  } catch {
    return undefined;
  }
}

function write({ resolved, scripts }) {
  const modules = {};
  const parts = [];
  let at = 0;
  for (const [filename, { source, script }] of scripts) {
    const encoding = /^[\0-\xff]*$/.test(source) ? 'latin1' : 'utf8';
    const [text, code] = [Buffer.from(source, encoding), script.createCachedData()];
    modules[filename] = [at, text.length, code.length, encoding];
    parts.push(text, code);
    at += text.length + code.length;
  }
  const head = Buffer.from(JSON.stringify({ resolved, modules }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  writeFileSync(`${file}.new`, Buffer.concat([length, head, ...parts]));
  renameSync(`${file}.new`, file);
}

function keyOf(request, parent) {
  return `${parent?.filename && dirname(parent.filename)}\0${request}`;
}

/** Returns whether this process is the first one of its script. */
function isFirst() {
  try {
    mkdirSync(`${file}.first`);
    return true;
  } catch {
    return false;
  }
}

if (existsSync(file)) use();
else if (isFirst()) record();
