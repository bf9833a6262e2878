const { createRequire } = require('node:module');
const { Script } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/**
 * Jest loads every module anew for every spec file, the 1,600 of our packages too, and cold code is slow code: that was a
 * quarter of the time of all tests. Here packages are loaded by Node, once per worker. Our own modules stay the file's own.
 */
module.exports = class extends Runtime {
  constructor(...given) {
    super(...given);
    const { executor } = this; // of Jest's inside; without it no test would run, so an update of Jest cannot break it quietly
    const head = `(function (${executor.injectedModuleParameters.join()}) {`;
    executor.compile = (source, filename) =>
      new Script(`${head}${source}\n})`, { filename, columnOffset: -head.length }).runInThisContext();
  }

  requireModuleOrMock(from, name) {
    const isPackage = !/^[./]|^@jest\/globals$/.test(name);
    return isPackage ? createRequire(from)(name) : super.requireModuleOrMock(from, name);
  }
};
