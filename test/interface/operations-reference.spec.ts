import { readFileSync } from 'node:fs';
import { operationsPage } from '../../src/operations/reference';

describe('docs/reference/operations.md', () => {
  it('equals the catalogue, as npm run docs writes it', () => {
    expect(readFileSync('docs/reference/operations.md', 'utf8')).toBe(operationsPage());
  });
});
