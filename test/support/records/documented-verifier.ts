import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The page that specifies a receipt. */
export function specification(): string {
  return readFileSync(join('docs', 'auditors', 'receipts.md'), 'utf8');
}

/** The program that the page contains, character for character. */
export function documentedProgram(): string {
  return /\n```js verify\.mjs\n([^]*?)```\n/.exec(specification())![1]!;
}

/** Runs `use` with a folder that holds the documented program as verify.mjs, and nothing else. */
export function withDocumentedProgram<Result>(use: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'documented-'));
  try {
    writeFileSync(join(folder, 'verify.mjs'), documentedProgram());
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export interface Verified {
  /** What the program says about each text: null if the receipt holds, otherwise the fault. */
  faults: (string | null)[];
  /** Positions of bits of the first text (byte * 8 + bit) that can be flipped without the program noticing. */
  unnoticed: number[];
}

/**
 * Gives the documented program many receipts in one process.
 * @param flipEvery the distance of the bits of the first text that are flipped too, one at a time. At most 8 reaches every
 * byte.
 */
export function verifyAsDocumented(texts: string[], key: string, flipEvery?: number): Verified {
  const asking = `
    import { verifyReceipt } from './verify.mjs';
    import { readFileSync } from 'node:fs';
    const { texts, key, flipEvery } = JSON.parse(readFileSync(0, 'utf8'));
    const faultOf = (text) => { try { verifyReceipt(text, key); return null; } catch (error) { return error.message; } };
    const bytes = Buffer.from(texts[0]);
    const unnoticed = [];
    for (let bit = 0; flipEvery && bit < bytes.length * 8; bit += flipEvery) {
      bytes[bit >> 3] ^= 1 << (bit & 7);
      if (faultOf(bytes.toString()) === null) unnoticed.push(bit);
      bytes[bit >> 3] ^= 1 << (bit & 7);
    }
    process.stdout.write(JSON.stringify({ faults: texts.map(faultOf), unnoticed }));`;
  return withDocumentedProgram((cwd) => {
    const input = JSON.stringify({ texts, key, flipEvery });
    const args = ['--input-type=module', '-e', asking];
    return JSON.parse(execFileSync(process.execPath, args, { cwd, input, encoding: 'utf8' })) as Verified;
  });
}
