import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the page that specifies a receipt. */
export function specification(): string {
  return readFileSync(join('docs', 'auditors', 'receipts.md'), 'utf8');
}

/** Returns the program in the page, character for character. */
export function documentedProgram(): string {
  return /\n```js verify\.mjs\n([^]*?)```\n/.exec(specification())![1]!;
}

/** Runs `use` with a folder that contains only the documented program, as verify.mjs. */
export function withDocumentedProgram<Result>(use: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'documented-'));
  try {
    writeFileSync(join(folder, 'verify.mjs'), documentedProgram());
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export interface DocumentedResult {
  /** The program's result for each text: null for a valid receipt, otherwise the fault. */
  faults: (string | null)[];
  /** Positions of bits of the first text (byte * 8 + bit) that can be flipped unnoticed. */
  unnoticed: number[];
}

/**
 * Passes many receipts to the documented program in one process.
 * @param flipEvery distance between the flipped bits of the first text, one flip at a time. At most 8 reaches
 *   every byte.
 */
export function verifyAsDocumented(texts: string[], key: string, flipEvery?: number): DocumentedResult {
  const asking = `
    import { verifyReceipt } from './verify.mjs';
    import { readFileSync } from 'node:fs';
    const { texts, key, flipEvery } = JSON.parse(readFileSync(0, 'utf8'));
    const faultOf = (text) => {
      try { verifyReceipt(text, key); return null; } catch (error) { return error.message; }
    };
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
    return JSON.parse(
      execFileSync(process.execPath, args, { cwd, input, encoding: 'utf8' }),
    ) as DocumentedResult;
  });
}
