import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from './folder';

describe('makeFolder', () => {
  const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-folder-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const modeOf = (path: string) => statSync(path).mode & 0o777;

  it('creates a folder and its parents, and keeps an existing one', () => {
    const [above, folder] = [join(dir, 'a'), join(dir, 'a', 'b')];
    makeFolder(folder, 0o700);
    makeFolder(folder, 0o755);
    expect([above, folder].map(modeOf)).toEqual([0o700, 0o700]);
  });

  it('fails if a file blocks the path', () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    expect(() => makeFolder(file)).toThrow('EEXIST');
    expect(() => makeFolder(join(file, 'folder'))).toThrow('ENOTDIR');
  });

  it('fails on a file system without folders', () => {
    const built = join(__dirname, '..', '..', '..', 'dist', 'platform', 'config', 'folder.js');
    // in a process that can be ended
    const program = `require(${JSON.stringify(built)}).makeFolder('/proc/x/y')`;
    const run = () => execFileSync(process.execPath, ['-e', program], { timeout: 5_000, stdio: 'pipe' });
    expect(run).toThrow('ENOENT');
  });
});
