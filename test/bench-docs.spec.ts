import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');

describe('docs/internals/performance.md', () => {
  it('shows the figures of the benchmark results', () => {
    const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-docs-'));
    try {
      const copy = join(folder, 'performance.md');
      cpSync(join(ROOT, 'docs/internals/performance.md'), copy);
      execFileSync(process.execPath, [join(ROOT, 'bench/docs.mjs'), copy]);
      expect(readFileSync(copy, 'utf8')).toBe(readFileSync(join(ROOT, 'docs/internals/performance.md'), 'utf8'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
