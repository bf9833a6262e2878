const Module = require('node:module');
const { join, resolve, dirname, sep } = require('node:path');
const { Script } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

const ROOT = join(module.path, '..', '..', '..');
const SOURCE = join(ROOT, 'src') + sep;
const END_TO_END = join(ROOT, 'test') + sep;

/** The source maps of shared modules, for the stacks of every spec file. */
const sourceMaps = new Map();

/** The runtime of the current spec file, which compiles TypeScript and caches the result on disk. */
let current;
const makeCurrent = (runtime) => (current = runtime);

Module._extensions['.ts'] = (module, filename) => {
  module._compile(current.transformCache.transform(filename), filename);
  sourceMaps.set(filename, current.getSourceMaps().get(filename));
};

/** Finds the TypeScript file of a dynamic import, which names the compiled one. */
const findFile = Module._resolveFilename;
Module._resolveFilename = (request, parent, ...more) =>
  findFile(parent?.filename?.endsWith('.ts') ? sourceOf(request) : request, parent, ...more);

const sourceOf = (request) => (request.startsWith('.') ? request.replace(/\.js$/, '') : request);

/**
 * Loads modules once per worker. Jest loads every module anew for every spec file: the 1,600 of our packages
 * and the 500 of `src`. Cold code is slow. Here Node loads packages once per worker, and the modules of `src`
 * once for all end-to-end specs of a worker. Unit specs load `src` for themselves, because they may mock it.
 */
module.exports = class extends Runtime {
  constructor(...given) {
    super(...given);
    makeCurrent(this);
    for (const [file, map] of sourceMaps) this.getSourceMaps().set(file, map);
    // A private field of Jest. If an update of Jest removes it, no test runs, so the change is noticed.
    const { executor } = this;
    this.sharesSource = executor.testPath.startsWith(END_TO_END);
    const head = `(function (${executor.injectedModuleParameters.join()}) {`;
    executor.compile = (source, filename) =>
      new Script(`${head}${source}\n})`, { filename, columnOffset: -head.length }).runInThisContext();
  }

  requireModuleOrMock(from, name) {
    return this.isShared(from, name)
      ? Module.createRequire(from)(sourceOf(name))
      : super.requireModuleOrMock(from, sourceOf(name));
  }

  requireActual(from, name) {
    return this.isShared(from, name) ? Module.createRequire(from)(name) : super.requireActual(from, name);
  }

  setMock(from, name, ...given) {
    if (this.isShared(from, name))
      throw new Error(`${name} is shared with other spec files: mock it in a unit spec`);
    super.setMock(from, name, ...given);
  }

  isShared(from, name) {
    if (name === '@jest/globals') return false;
    return !/^[./]/.test(name) || (this.sharesSource && resolve(dirname(from), name).startsWith(SOURCE));
  }
};
