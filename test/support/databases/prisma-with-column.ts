import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type * as Generated from '../../../src/platform/database/generated/client';

/**
 * Generates and loads Prisma's client for the schema with an additional column.
 * @param example the folder of a guide's example, with the column.
 */
export function prismaWithColumn(example: string, ...models: string[]): typeof Generated {
  mkdirSync('dist', { recursive: true });
  const folder = resolve(mkdtempSync(join('dist', 'with-column-')));
  const file = join(folder, 'schema.prisma');
  const column = readFileSync(join(example, 'schema.prisma'), 'utf8');
  const schema = models.reduce(
    (text, model) => text.replace(`model ${model} {\n`, `model ${model} {\n${column}`),
    readFileSync('prisma/schema.prisma', 'utf8').replace(/output( +)= .*/, `output$1= "${folder}/generated"`),
  );
  writeFileSync(file, schema);
  const command = ['node_modules/prisma/build/index.js', 'generate', '--schema', file];
  execFileSync(process.execPath, command, { stdio: 'pipe' });
  const generated = jest.requireActual<typeof Generated>(join(folder, 'generated', 'client'));
  rmSync(folder, { recursive: true });
  return generated;
}
