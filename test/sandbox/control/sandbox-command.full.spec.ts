import { readFileSync } from 'node:fs';
import { removeDataDir } from '../../support/processes/data-dir';
import { childrenOf, isGone, newDataDir, Product, withDescendants } from '../../support/processes/process';

describe('the command that runs the sandbox alone', () => {
  const dataDir = newDataDir();
  afterAll(() => removeDataDir(dataDir));

  it('ends with its sandbox, reports its end, and leaves no process running', async () => {
    const command = new Product(
      'cli/main.js',
      ['sandbox'],
      { DATA_DIR: dataDir, SANDBOX_PORT: '0' },
      dataDir,
    );
    await command.said(/The sandbox is ready/);
    const all = withDescendants(command.pid);
    const sandbox = childrenOf(command.pid).find((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sandbox/main.js'),
    );
    process.kill(sandbox ?? NaN, 'SIGKILL');
    const { code, stderr } = await command.exit;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('the sandbox has stopped (SIGKILL)'),
    });
    expect(all.filter((pid) => !isGone(pid))).toEqual([]);
  });
});
