import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** `npm run test:breaks` takes guards out, and expects a test to notice each. It takes long, so this checks only its table. */
it('the guards that npm run test:breaks takes out are where it looks for them, and name existing tests', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(__dirname, '..', 'breaks', 'run.mjs'),
    '--check',
  ]);
  expect(stdout).toMatch(/^\d+ guards are in place\.\n$/);
});
