import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** `npm run test:breaks` removes guards, and expects a test to detect each. This spec checks its table. */
it('has every guard of npm run test:breaks and its test in place', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(__dirname, '..', 'mutations', 'run.mjs'),
    '--check',
  ]);
  expect(stdout).toMatch(/^\d+ guards are in place\.\n$/);
});
