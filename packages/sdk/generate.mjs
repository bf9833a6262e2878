#!/usr/bin/env node
/** Writes the types of the routes that an app uses from openapi.json, and the manifest of the CommonJS build. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import openapiTypes, { astToString } from 'openapi-typescript';

/** The interface, its previews, and what an app reads of its own. */
const ROUTES = /^\/(api\/v0\.1\/|v1\/(preview\/|calls|payouts\/|limits$|ephemeral-keys|page-sessions\/))/;

/** Settling a call is for approvers. */
const OF_OTHERS = ['/v1/calls/{id}/resolution'];

const METHODS = ['get', 'post', 'patch', 'put', 'delete'];
const HEAD = '/** Written by `npm run build` from openapi.json. Do not edit. */\n\n';

const { openapi, info, paths, components } = JSON.parse(
  await readFile(new URL('../../openapi.json', import.meta.url), 'utf8'),
);
const own = Object.entries(paths).filter(([path]) => ROUTES.test(path) && !OF_OTHERS.includes(path));
const document = { openapi, info, paths: Object.fromEntries(own), components: usedBy(own) };
for (const path of Object.values(document.paths)) for (const method of METHODS) delete path[method]?.tags;

await write('src/generated/schema.ts', HEAD + astToString(await openapiTypes(document)));

// Node.js would take the files of this folder for ES modules, because the package has the type "module".
await write('dist/cjs/package.json', JSON.stringify({ type: 'commonjs' }));

async function write(path, text) {
  const url = new URL(path, import.meta.url);
  await mkdir(new URL('.', url), { recursive: true });
  await writeFile(url, text);
}

/** Returns the components that a part of the document refers to, and those that they refer to. */
function usedBy(part) {
  const used = {};
  const pending = [part];
  for (const one of pending) {
    for (const [, kind, name] of JSON.stringify(one).matchAll(/#\/components\/([^/"]+)\/([^/"]+)/g)) {
      used[kind] ??= {};
      if (name in used[kind]) continue;
      used[kind][name] = components[kind][name];
      pending.push(used[kind][name]);
    }
  }
  return used;
}
