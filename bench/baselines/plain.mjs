/** The obvious design: Nest on Express, axios, a Prisma create before and an update after. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from './support/contestant.mjs';

const main = join(import.meta.dirname, 'plain', 'dist', 'main.js');
if (!existsSync(main)) fail('the plain baseline is not built: run npm run build:plain');
await import(main);
