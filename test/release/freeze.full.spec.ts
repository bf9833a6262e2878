import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

const ROOT = join(__dirname, '..', '..');
const CHANGES = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- All of it.\n';
const TODAY = new Date().toISOString().slice(0, 10);

/** Runs the tool in a small checkout with a program of two files. */
describe('npm run freeze', () => {
  let checkout: string;

  const write = (path: string, content: string | object) => {
    const file = join(checkout, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  };
  const read = (path: string) => readFileSync(join(checkout, path), 'utf8');
  const run = (file: string, ...args: string[]) => spawnSync(file, args, { cwd: checkout, encoding: 'utf8' });
  const git = (...args: string[]) =>
    run('git', '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args);
  const commit = () => {
    git('add', '--all');
    git('commit', '--quiet', '--message', 'A change');
    write('dist/build.json', { commit: git('rev-parse', 'HEAD').stdout.trim() });
  };
  const freeze = () => run(process.execPath, 'tools/freeze.mjs');
  const setVersion = (version: string) => {
    write('package.json', { version });
    write('packages/sdk/package.json', { version });
    for (const name of ['openapi.json', 'openapi.staff.json']) write(name, { info: { version } });
  };

  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), 'payout-proxy-freeze-'));
    cpSync(join(ROOT, 'tools', 'freeze.mjs'), join(checkout, 'tools', 'freeze.mjs'));
    symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
    setVersion('0.1.0');
    write('CHANGELOG.md', CHANGES);
    write('.gitignore', 'dist\nnode_modules\n');
    write(
      'dist/main.js',
      "const { name } = require('./name'); console.log(name, typeof require('pg').Pool);",
    );
    write('dist/name.js', "exports.name = 'the program';");
    write('dist/worker/main.js', "require('../name');");
    for (const folder of ['prisma/migrations', 'prisma/sandbox/migrations']) {
      write(`${folder}/20261124000000_init/migration.sql`, `-- ${folder}`);
      write(`${folder}/released.json`, {});
    }
    git('init', '--quiet');
    commit();
  });
  afterEach(() => rmSync(checkout, { recursive: true }));

  it('keeps the migrations, the API documents and the program, and dates the changes', () => {
    expect(freeze()).toMatchObject({ status: 0, stderr: '' });
    expect(Object.keys(JSON.parse(read('prisma/migrations/released.json')) as object)).toEqual([
      '20261124000000_init',
    ]);
    expect(read('test/released/openapi.json')).toBe(read('openapi.json'));
    expect(read('CHANGELOG.md')).toBe(
      `# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - ${TODAY}\n\n### Added\n\n- All of it.\n`,
    );
    const packed = readFileSync(join(checkout, 'test/released/program.json.br'));
    const program = JSON.parse(brotliDecompressSync(packed).toString()) as { files: Record<string, string> };
    expect(program).toMatchObject({ version: '0.1.0', migration: '20261124000000_init' });
    for (const [name, code] of Object.entries(program.files)) write(`unpacked/${name}`, code);
    expect(run(process.execPath, 'unpacked/main.js').stdout).toBe('the program function\n');
  });

  it('keeps only the new migrations and changes of a later release', () => {
    freeze();
    const before = JSON.parse(read('prisma/migrations/released.json')) as Record<string, string>;
    setVersion('0.2.0');
    write('prisma/migrations/20261201000000_more/migration.sql', '-- more');
    write('CHANGELOG.md', read('CHANGELOG.md').replace('[Unreleased]\n', '[Unreleased]\n\n- More.\n'));
    commit();
    expect(freeze()).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(read('prisma/migrations/released.json'))).toEqual({
      ...before,
      '20261201000000_more': expect.any(String),
    });
    expect(read('CHANGELOG.md')).toContain(
      `## [Unreleased]\n\n## [0.2.0] - ${TODAY}\n\n- More.\n\n## [0.1.0] - ${TODAY}\n`,
    );
  });

  it.each<[string, () => void, string]>([
    ['uncommitted changes', () => write('CHANGELOG.md', `${CHANGES}- More.\n`), 'Commit them first'],
    ['a build of another commit', () => write('dist/build.json', { commit: 'a' }), 'Run npm run build'],
    [
      'an SDK of another version',
      () => {
        write('packages/sdk/package.json', { version: '0.0.9' });
        commit();
      },
      'packages/sdk/package.json has the version 0.0.9',
    ],
    [
      'a version that is released',
      () => {
        write('CHANGELOG.md', `${CHANGES}\n## [0.1.0] - 2026-01-01\n`);
        commit();
      },
      '0.1.0 is released',
    ],
    [
      'a changed migration of a release',
      () => {
        write('prisma/migrations/released.json', { '20261124000000_init': 'another checksum' });
        commit();
      },
      'was changed after its release',
    ],
  ])('refuses %s, and keeps nothing', (_what, change, reason) => {
    change();
    const before = read('prisma/migrations/released.json');
    const { status, stderr } = freeze();
    expect([status, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(read('prisma/migrations/released.json')).toBe(before);
    expect(existsSync(join(checkout, 'test', 'released'))).toBe(false);
  });
});
