#!/usr/bin/env node
/** Builds the project after an installation, if the development dependencies are installed. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const HELP = `Usage: node tools/prepare.mjs

Runs npm run build after npm ci. After npm ci --omit=dev it builds nothing and prints a hint: run
npm run build:release on a machine with all dependencies.

Examples:
  npm ci                  # installs everything and builds
  npm ci --omit=dev       # installs the packages of a proxy, and builds nothing`;

if (process.argv.includes('--help')) {
  console.log(HELP);
} else if (isInstalled('@nestjs/cli')) {
  const { status } = spawnSync('npm', ['run', 'build'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
} else {
  console.log(
    'The development dependencies are not installed, so nothing was built. Run npm run build:release on ' +
      'a machine that has them.',
  );
}

function isInstalled(name) {
  try {
    createRequire(join(process.cwd(), 'package.json')).resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}
