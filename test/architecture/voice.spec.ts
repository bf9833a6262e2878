import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow } from '../support/examples/source';

const ROOT = join(__dirname, '..', '..');
const STYLE_GUIDE = 'docs/internals/style.md';
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The constructions in bold in the style guide. */
const [, section = ''] = /^## Constructions to avoid$([^]*?)^## /m.exec(read(STYLE_GUIDE)) ?? [];
const tics = [...section.matchAll(/\*\*(.+?)\.?\*\*/g)].map(([, words = '']) => words);

const texts = ['.ts', '.tsx', '.mjs', '.cjs', '.sql', '.prisma', '.md', '.yml']
  .flatMap((ending) => filesBelow('.', ending))
  .filter((path) => path !== STYLE_GUIDE)
  .map((path) => ({ path, text: read(path) }));

describe('the texts', () => {
  it('have a list of constructions to avoid', () => {
    expect(tics.length).toBeGreaterThanOrEqual(5);
  });

  it.each(tics)('avoid: %s', (words) => {
    // Also across the end of a line of a comment.
    const tic = new RegExp(`\\b${words.replaceAll(' ', '[\\s*/]+')}\\b`, 'i');
    expect(texts.filter(({ text }) => tic.test(text)).map(({ path }) => path)).toEqual([]);
  });
});
