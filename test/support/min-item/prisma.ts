import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type * as Generated from '../../../src/platform/database/generated/client';

const COLUMN = readFileSync(join(__dirname, 'schema.prisma'), 'utf8');

/** Generates and loads Prisma's client for the schema with the column of the made-up limit. */
export function prismaWithColumn(): typeof Generated {
  mkdirSync('dist', { recursive: true });
  const folder = resolve(mkdtempSync(join('dist', 'min-item-')));
  const file = join(folder, 'schema.prisma');
  const schema = readFileSync('prisma/schema.prisma', 'utf8')
    .replace(/output( +)= .*/, `output$1= "${folder}/generated"`)
    .replace('model Client {\n', `model Client {\n${COLUMN}`);
  writeFileSync(file, schema);
  const command = ['node_modules/prisma/build/index.js', 'generate', '--schema', file];
  execFileSync(process.execPath, command, { stdio: 'pipe' });
  const generated = jest.requireActual<typeof Generated>(join(folder, 'generated', 'client'));
  rmSync(folder, { recursive: true });
  return generated;
}
