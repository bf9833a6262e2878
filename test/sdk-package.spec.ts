import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findCycle, sourceFiles } from './support/source';

const ROOT = resolve(__dirname, '..');
const PACKAGE = join(ROOT, 'packages/sdk');

/** Runs an installed program, or one of Node's. Fails if it does. */
async function run(program: string, ...given: string[]): Promise<string> {
  const file = program === 'npm' || program === 'node' ? program : join(ROOT, 'node_modules/.bin', program);
  return (await promisify(execFile)(file, given, { cwd: PACKAGE, maxBuffer: 64 * 1024 ** 2 })).stdout;
}

describe("the SDK's package", () => {
  it('resolves for every runtime and bundler, with its types', async () => {
    expect(await run('publint', '.', '--strict')).toContain('All good!');
    // The profile leaves out that old versions of Node cannot require() a module. A test below does.
    expect(await run('attw', '--pack', '.', '--profile', 'esm-only', '--format', 'ascii')).toContain('(ESM)');
  });

  it('has the built modules with their types and README, and nothing else', async () => {
    const [{ files }] = JSON.parse(await run('npm', 'pack', '--dry-run', '--json')) as [{ files: { path: string }[] }];
    const others = files.map(({ path }) => path).filter((path) => !/^dist\/[\w/-]+(\.d)?\.(js|ts)$/.test(path));
    expect(others.sort()).toEqual(['README.md', 'package.json']);
    expect(files.filter(({ path }) => path.includes('spec'))).toEqual([]);
  });

  it('needs no other package', () => {
    const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(['dependencies', 'peerDependencies', 'optionalDependencies'].filter((name) => name in manifest)).toEqual([]);
    const modules = sourceFiles('packages/sdk/src').filter(({ path }) => !path.endsWith('.spec.ts'));
    const foreign = modules.flatMap(({ imports }) => imports.filter((name) => !name.startsWith('packages/sdk/src/')));
    expect(foreign).toEqual([]);
    expect(findCycle(modules)).toBeUndefined();
    expect(modules.length).toBeGreaterThan(15);
  });

  it('can be loaded by import and by require, and names what README uses', async () => {
    const names = ['PayoutProxy', 'verifyReceipt', 'verifyEvent', 'ApiError'];
    const loaded = `names.filter((name) => typeof sdk[name] !== 'function').join()`;
    const start = `const names = ${JSON.stringify(names)};`;
    const esm = `import * as sdk from '@payout-proxy/sdk'; ${start} console.log(${loaded})`;
    const cjs = `const sdk = require('@payout-proxy/sdk'); ${start} console.log(${loaded})`;
    expect(await run('node', '--input-type=module', '-e', esm)).toBe('\n');
    expect(await run('node', '--no-warnings', '--input-type=commonjs', '-e', cjs)).toBe('\n');
  });

  it('makes no key with Math.random', () => {
    const using = sourceFiles('packages/sdk/src').filter(({ text }) => /Math\.random\(/.test(text));
    expect(using.map(({ path }) => path)).toEqual([]);
  });
});
