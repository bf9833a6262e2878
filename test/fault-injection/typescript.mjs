/** Lets Node load TypeScript, compiled like Jest does for the tests. */
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { transformSync } from '@swc/core';

const require = createRequire(import.meta.url);
const [, [, options]] = Object.entries(require('../../jest.config.cjs').transform)[0];

Module._extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    ...options,
    filename,
    sourceMaps: 'inline',
  });
  module._compile(code, filename);
};

/** Test support ends its processes after all tests. Here, that is the end of the process. */
globalThis.afterAll = (end) => process.once('exit', end);

process.setSourceMapsEnabled(true);

export const loadTypeScript = (file) => require(file);
