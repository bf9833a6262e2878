/** npm run bench:docs: writes the tables of the documentation from the results in bench/results. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { burstTable } from './burst-table.mjs';
import { footprintTable } from './footprint-table.mjs';
import { sandboxTable } from './sandbox-table.mjs';
import {
  capacityTable,
  cellsTable,
  limitsTable,
  needsTable,
  routingTable,
  waitsTable,
} from './scaling/tables.mjs';
import {
  besideTable,
  fairnessTable,
  growthTable,
  matrixTables,
  promisesTable,
  soakTable,
} from './tables.mjs';

/** Another folder with the documents, to see whether they would change. */
const FOLDER = process.argv[2] ?? join(import.meta.dirname, '..', 'docs');
/** By document and position in it: the results to show, and their form. */
const TABLES = {
  'internals/performance.md': {
    promises: [promisesTable, 'latest'],
    matrix: [matrixTables, 'latest'],
    soak: [soakTable, 'soak'],
    footprint: [footprintTable, 'footprint'],
    growth: [growthTable, 'growth'],
    beside: [besideTable, 'beside'],
    fairness: [fairnessTable, 'fairness'],
    sandbox: [sandboxTable, 'sandbox'],
    burst: [burstTable, 'burst'],
  },
  'operate/scaling.md': {
    capacity: [capacityTable, 'scaling'],
    limits: [limitsTable, 'scaling'],
    needs: [needsTable, 'scaling', 'growth'],
    waits: [waitsTable, 'scaling'],
    routing: [routingTable, 'routing'],
    cells: [cellsTable, 'cells'],
  },
};

for (const [name, tables] of Object.entries(TABLES)) {
  const document = join(FOLDER, name);
  writeFileSync(document, withTables(readFileSync(document, 'utf8'), tables));
}

/** Returns the document with the tables of all existing results. */
function withTables(text, tables) {
  return Object.entries(tables).reduce((document, [name, [table, ...results]]) => {
    const files = results.map((one) => join(import.meta.dirname, 'results', `${one}.json`));
    if (!files.every((file) => existsSync(file))) return document;
    const place = new RegExp(`(<!-- bench:${name} -->)[^]*?(<!-- /bench -->)`);
    const shown = table(...files.map((file) => JSON.parse(readFileSync(file, 'utf8'))));
    return document.replace(place, (_, begin, end) => `${begin}\n\n${shown}\n\n${end}`);
  }, text);
}
