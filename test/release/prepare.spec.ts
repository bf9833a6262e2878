import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The script that npm runs after an installation. */
describe('the preparation of an installation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-prepare-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('builds nothing without the development dependencies, and lets the installation succeed', () => {
    const script = join(__dirname, '..', '..', 'tools', 'prepare.mjs');
    const { status, stdout } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/nothing was built\. Run npm run build:release/),
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });
});
