import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const DOCUMENTS = ['internals/performance.md', 'operate/scaling.md'];

describe('the documentation with figures', () => {
  it('shows the figures of the benchmark results', () => {
    const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-docs-'));
    try {
      for (const name of DOCUMENTS) cpSync(join(ROOT, 'docs', name), join(folder, name));
      execFileSync(process.execPath, [join(ROOT, 'bench/docs.mjs'), folder]);
      for (const name of DOCUMENTS) {
        expect(readFileSync(join(folder, name), 'utf8')).toBe(readFileSync(join(ROOT, 'docs', name), 'utf8'));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
