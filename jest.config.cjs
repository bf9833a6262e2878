/** One run for all tests: unit specs beside the source, e2e specs in test/. */
module.exports = {
  testEnvironment: '<rootDir>/test/support/jest/environment.cjs',
  runtime: '<rootDir>/test/support/jest/runtime.cjs',
  roots: ['<rootDir>/src', '<rootDir>/test', '<rootDir>/console/src', '<rootDir>/packages/sdk/src'],
  testMatch: ['**/*.spec.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  globalSetup: '<rootDir>/test/support/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.ts',
  testTimeout: 300_000, // ends what hangs; on a busy machine nothing else should reach it
  testSequencer: '<rootDir>/test/support/jest/longest-first.mjs',
  // on two cores: many tests wait for processes to start, or for a time-out. Four are no faster
  maxWorkers: 3,
};
