/** npm run bench:docs: writes the tables of docs/internals/performance.md from the results in bench/results. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { besideTable, footprintTable, growthTable, matrixTables, promisesTable, soakTable } from './tables.mjs';

/** Another document, to see whether it would change. */
const DOCUMENT = process.argv[2] ?? join(import.meta.dirname, '..', 'docs', 'internals', 'performance.md');
/** By the position in the document: the results to show, and their form. */
const TABLES = {
  promises: ['latest', promisesTable],
  matrix: ['latest', matrixTables],
  soak: ['soak', soakTable],
  footprint: ['footprint', footprintTable],
  growth: ['growth', growthTable],
  beside: ['beside', besideTable],
};

writeFileSync(DOCUMENT, withTables(readFileSync(DOCUMENT, 'utf8')));

/** Returns the document with the tables of all existing results. */
function withTables(text) {
  return Object.entries(TABLES).reduce((document, [name, [results, table]]) => {
    const file = join(import.meta.dirname, 'results', `${results}.json`);
    if (!existsSync(file)) return document;
    const place = new RegExp(`(<!-- bench:${name} -->)[^]*?(<!-- /bench -->)`);
    return document.replace(
      place,
      (_, begin, end) => `${begin}\n\n${table(JSON.parse(readFileSync(file, 'utf8')))}\n\n${end}`,
    );
  }, text);
}
