import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow } from '../support/examples/source';

const ROOT = join(__dirname, '..', '..');

/** Constructions that `docs/internals/style.md` rejects, also across the end of a line of a comment. */
const TICS = ['became of', 'whoever', 'stands? beside', 'see there', 'than any(?:body|one)'].map(
  (words) => new RegExp(`\\b${words.replaceAll(' ', '[\\s*/]+')}\\b`, 'i'),
);

/** The style guide names the constructions, and this test has them as patterns. */
const QUOTING = ['docs/internals/style.md', 'test/architecture/voice.spec.ts'];

const files = ['.ts', '.tsx', '.mjs', '.cjs', '.sql', '.prisma', '.md', '.yml']
  .flatMap((ending) => filesBelow('.', ending))
  .filter((path) => !QUOTING.includes(path));

describe('the texts', () => {
  it.each(TICS)('avoid %s', (tic) => {
    const found = files.filter((path) => tic.test(readFileSync(join(ROOT, path), 'utf8')));
    expect(found).toEqual([]);
  });
});
