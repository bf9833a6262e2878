const { AsyncLocalStorage } = require('node:async_hooks');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { configureGlobal } = require('fast-check');

/** Properties of `globalThis` that a spec file must not leave to the next one: Jest's state. */
const LEFT_BEHIND = /^(JEST_STATE_SYMBOL|EVENT_HANDLERS|RETRY_TIMES|RETRY_TIMES_SETTER)$/;

/**
 * Runs tests without the AsyncLocalStorage that Jest uses to assign unhandled errors to tests. Up to Node 22,
 * each storage adds a property to every later promise of the worker, and a timer that outlives the file keeps
 * all its applications. Without the storage, an unhandled error fails the file.
 */
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (store, callback, ...given) {
  // A store can be any value.
  const isOfJest = Object.hasOwn(Object(store), 'test') || Object.hasOwn(Object(store), 'hook');
  return isOfJest ? callback(...given) : run.call(this, store, callback, ...given);
};

/** Property tests draw new examples in each local run, and the same ones for the same commit in CI. */
if (process.env.CI) configureGlobal({ seed: 20_261_121 });

/**
 * The environment of a spec file: the global scope of its worker, as the product runs in that of its process.
 * Packages that were loaded once (see runtime.cjs) and the file then share Error and Array. It restores what
 * the file changed.
 */
module.exports = class Environment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null; // Jest's legacy timers
  env = { ...process.env };
  console = globalThis.console;
  process = { exit: process.exit, getBuiltinModule: process.getBuiltinModule, exitCode: process.exitCode };

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    for (const name of Object.keys(process.env)) if (!(name in this.env)) delete process.env[name];
    Object.assign(process.env, this.env);
    Object.assign(process, this.process);
    globalThis.console = this.console;
    for (const key of Reflect.ownKeys(globalThis)) {
      if (LEFT_BEHIND.test(typeof key === 'symbol' ? key.description : key)) delete globalThis[key];
    }
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** None, because runtime.cjs compiles for this scope. */
  getVmContext() {
    return null;
  }
};
