/** npm run screenshots: the pictures of docs/screenshots, taken of the built product. */
const { transform } = require('../../jest.config.cjs');

module.exports = {
  rootDir: '../..',
  roots: ['<rootDir>/test/screenshots'],
  testMatch: ['**/take.ts'],
  testTimeout: 600_000,
  transform,
};
