import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findCycle, sourceFiles } from '../support/examples/source';

const ROOT = resolve(__dirname, '..', '..');
const PACKAGE = join(ROOT, 'packages/sdk');

const SYSTEM = ['npm', 'node', 'tar'];

/** Runs a program of the system, or an installed one. Throws if it fails. */
async function run(program: string, ...parameters: string[]): Promise<string> {
  return runIn(PACKAGE, program, ...parameters);
}

async function runIn(cwd: string, program: string, ...parameters: string[]): Promise<string> {
  const file = SYSTEM.includes(program) ? program : join(ROOT, 'node_modules/.bin', program);
  return (await promisify(execFile)(file, parameters, { cwd, maxBuffer: 64 * 1024 ** 2 })).stdout;
}

describe("the SDK's package", () => {
  it('resolves for every runtime and bundler, with its types', async () => {
    expect(await run('publint', '.', '--strict')).toContain('All good!');
    expect(await run('attw', '--pack', '.', '--format', 'ascii')).toContain('No problems found');
  });

  it('contains only the built modules with their types and README', async () => {
    const [{ files }] = JSON.parse(await run('npm', 'pack', '--dry-run', '--json')) as [
      { files: { path: string }[] },
    ];
    const paths = files.map(({ path }) => path);
    const others = paths.filter((path) => !/^dist\/(cjs|esm)\/[\w/-]+(\.d)?\.(js|ts)$/.test(path));
    expect(others.sort()).toEqual(['README.md', 'dist/cjs/package.json', 'package.json']);
    expect(files.filter(({ path }) => path.includes('spec'))).toEqual([]);
  });

  it('has no dependencies', () => {
    const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(
      ['dependencies', 'peerDependencies', 'optionalDependencies'].filter((name) => name in manifest),
    ).toEqual([]);
    const modules = sourceFiles('packages/sdk/src').filter(({ path }) => !path.endsWith('.spec.ts'));
    const foreign = modules.flatMap(({ imports }) =>
      imports.filter((name) => !name.startsWith('packages/sdk/src/')),
    );
    expect(foreign).toEqual([]);
    expect(findCycle(modules)).toBeUndefined();
    expect(modules.length).toBeGreaterThan(15);
  });

  it('creates no key with Math.random', () => {
    const using = sourceFiles('packages/sdk/src').filter(({ text }) => /Math\.random\(/.test(text));
    expect(using.map(({ path }) => path)).toEqual([]);
  });
});

/** Uses a value and types of the package. */
const USE = `
  import { ApiError, type BodyOf, PayoutProxy } from '@payout-proxy/sdk';
  const body: BodyOf<'POST /payouts/credit'> = { credits: [{ email: 'ada@example.com', valueInUSD: '1' }] };
  const client = new PayoutProxy({ baseUrl: 'http://localhost', apiKey: 'key' });
  export const code = async () => {
    const result = await client.payouts.credit(body).send();
    return result.status === 'rejected' && result.error instanceof ApiError ? result.error.code : undefined;
  };
  // @ts-expect-error an unknown operation, which proves that the types are present
  void client.pay('POST /nothing', body);
`;

describe('a project with the package installed', () => {
  let project: string;

  beforeAll(async () => {
    project = mkdtempSync(join(tmpdir(), 'sdk-package-'));
    const installed = join(project, 'node_modules/@payout-proxy/sdk');
    mkdirSync(installed, { recursive: true });
    const [{ filename }] = JSON.parse(await run('npm', 'pack', '--json', '--pack-destination', project)) as [
      { filename: string },
    ];
    await run('tar', '-xzf', join(project, filename), '-C', installed, '--strip-components', '1');
  });
  afterAll(() => rmSync(project, { recursive: true }));

  it('imports it, requires it, and recognizes the errors of both copies', async () => {
    const program = `(async () => {
      const copies = [await import('@payout-proxy/sdk'), require('@payout-proxy/sdk')];
      if (copies[0].PayoutProxy === copies[1].PayoutProxy) throw new Error('This is one copy.');
      const body = { code: 'csrf', action: 'ask', error: 'No.' };
      class OwnError extends copies[0].ApiError {}
      for (const [here, there] of [copies, copies.toReversed()]) {
        const error = new here.AuthenticationError(body);
        const names = ['Authentication', 'Api', 'PayoutProxy', 'NewKey', 'Verification'];
        const kinds = names.map((name) => name + 'Error');
        console.log(error.name, kinds.map((kind) => error instanceof there[kind]).join());
        const isApiError = (value) => value instanceof there.ApiError;
        console.log(error instanceof OwnError, isApiError(new OwnError(body)), isApiError({}));
        console.log(new here.VerificationError('x') instanceof there.VerificationError);
      }
    })()`;
    const lines = ['AuthenticationError true,true,true,false,false', 'false true false', 'true', ''];
    const output = lines.join('\n').repeat(2);
    expect(await runIn(project, 'node', '--input-type=commonjs', '-e', program)).toBe(output);
  });

  it('finds the types with every module resolution', async () => {
    const cases = [
      { moduleResolution: 'node10', module: 'commonjs', files: ['use.ts'] },
      { moduleResolution: 'node16', module: 'node16', files: ['use.mts', 'use.cts'] },
      { moduleResolution: 'bundler', module: 'esnext', files: ['use.ts'] },
    ];
    const options = { strict: true, noEmit: true, target: 'es2022', lib: ['es2022', 'dom'], types: [] };
    const check = async ({ files, ...resolution }: (typeof cases)[number]) => {
      const config = join(project, `${resolution.moduleResolution}.json`);
      for (const file of files) writeFileSync(join(project, file), USE);
      writeFileSync(config, JSON.stringify({ compilerOptions: { ...options, ...resolution }, files }));
      return run('tsc', '-p', config);
    };
    expect(await Promise.all(cases.map(check))).toEqual(cases.map(() => ''));
  });
});
