#!/usr/bin/env node
/** Writes the types of an app's routes from openapi.json, and the manifest of the CommonJS build. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import openapiTypes, { astToString } from 'openapi-typescript';

const HEAD = '/** Written by `npm run build` from openapi.json. Do not edit. */\n\n';

const document = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8'));
await write('src/generated/schema.ts', HEAD + astToString(await openapiTypes(document)));

// Without this manifest, the package's "type" makes the files of this folder ES modules for Node.js.
await write('dist/cjs/package.json', JSON.stringify({ type: 'commonjs' }));

async function write(path, text) {
  const url = new URL(path, import.meta.url);
  await mkdir(new URL('.', url), { recursive: true });
  await writeFile(url, text);
}
