import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';

const ROOT = join(__dirname, '..', '..');

/**
 * Prints the version, the number of modules that Node's own loader read, how often V8 rejected code, and a
 * stack of a module.
 */
const PROGRAM = `
  const Module = require('node:module');
  const vm = require('node:vm');
  const seen = { read: 0, rejected: 0 };
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (...given) {
    seen.read += 1;
    return compile.apply(this, given);
  };
  const { Script } = vm;
  vm.Script = class extends Script {
    constructor(source, options) {
      super(source, options);
      if (this.cachedDataRejected) seen.rejected += 1;
    }
  };
  process.on('exit', () => {
    const { Command } = require('./node_modules/commander');
    try {
      new Command().addCommand(new Command());
    } catch (error) {
      console.error(JSON.stringify({ ...seen, stack: error.stack }));
    }
  });
  require('./dist/cli/main.js');
`;

interface Seen {
  read: number;
  rejected: number;
  stack: string;
}

describe('compiled modules', () => {
  const parent = mkdtempSync(join(tmpdir(), 'payout-proxy-modules-'));
  const compiled = join(parent, 'compiled');
  const folder = join(parent, 'payout-proxy');
  const file = join(folder, 'dist', 'modules.compiled');

  beforeAll(() => {
    const words = [join(ROOT, 'tools', 'compile-modules.mjs'), '--out', compiled];
    const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  /** Copies the command line, with the packages of its options. */
  beforeEach(() => {
    rmSync(folder, { recursive: true, force: true });
    const filter = (path: string) => !/dist.console|modules[.]compiled|[.]map$/.test(path);
    for (const name of ['dist', 'package.json', 'node_modules/commander', 'node_modules/decimal.js'])
      cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter });
    writeFileSync(join(folder, 'dist', 'build.json'), '{}');
    cpSync(compiled, file);
  });
  afterAll(() => rmSync(parent, { recursive: true }));

  function printVersion(...options: string[]) {
    const words = [...options, '-e', PROGRAM, 'payout-proxy', '--version'];
    const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' });
    return { stdout, ...(JSON.parse(stderr) as Seen) };
  }

  const change = (path: string, before: string, after: string) =>
    writeFileSync(path, readFileSync(path, 'latin1').replaceAll(before, after), 'latin1');

  /** Node's own loader reads all modules. */
  function expectUnused() {
    const { stdout, read, rejected } = printVersion();
    expect(stdout).toMatch(/\(unknown\)\n$/);
    expect({ isRead: read > 70, rejected }).toEqual({ isRead: true, rejected: 0 });
  }

  it.each([[[]], [['--max-semi-space-size=16']], [['--no-opt']]])(
    'are used in a copy of the program, with %j',
    (options) => {
      const { stdout, read, rejected } = printVersion(...options);
      expect(stdout).toMatch(/^[\d.]+ \(unknown\)\n$/);
      expect({ isRead: read > 40, rejected }).toEqual({ isRead: false, rejected: 0 });
    },
  );

  it('are not used for a changed module', () => {
    const { read } = printVersion();
    change(join(folder, 'dist', 'platform', 'build.js'), "'unknown'", "'changed'");
    const changed = printVersion();
    expect(changed.stdout).toMatch(/\(changed\)\n$/);
    expect(changed.read).toBe(read + 1);
  });

  it('are not used by another Node', () => {
    change(file, `"node":"${process.version}"`, `"node":"${'v'.repeat(process.version.length)}"`);
    expectUnused();
  });

  it.each([[0], [3], [100], [-1]])('are not used from a file that was cut at %d', (at) => {
    writeFileSync(file, readFileSync(file).subarray(0, at));
    expectUnused();
  });

  it('are not used for a package behind a link, which has another path', () => {
    const { read } = printVersion();
    const [inside, outside] = [join(folder, 'node_modules', 'commander'), join(parent, 'commander')];
    renameSync(inside, outside);
    symlinkSync(outside, inside);
    const linked = printVersion();
    rmSync(outside, { recursive: true });
    expect(linked.stdout).toMatch(/\(unknown\)\n$/);
    expect(linked.read).toBeGreaterThan(read + 5);
  });

  it('are not used with source maps, which belong to the own files', () => {
    const { read, stack } = printVersion('--enable-source-maps');
    expect(read).toBeGreaterThan(70);
    expect(stack).toContain(join('commander', 'lib', 'command.js'));
  });

  it('keep V8 from using code of another V8, without a fault', () => {
    const content = readFileSync(file);
    const marks = positionsOf(content, codeMark());
    for (const at of marks) content.writeUInt32LE(1, at + 4); // the hash of V8's version
    writeFileSync(file, content);
    const { stdout, rejected } = printVersion();
    expect(stdout).toMatch(/\(unknown\)\n$/);
    expect(rejected).toBeGreaterThan(0);
  });

  it.each([
    ['missing', () => undefined],
    ['a folder', () => mkdirSync(file)],
  ])('are missed by nobody if their file is %s', (_, replace) => {
    rmSync(file);
    replace();
    expectUnused();
  });

  it('have the positions of their own files in stacks', () => {
    const { stack } = printVersion();
    rmSync(file);
    expect(stack).toBe(printVersion().stack);
    expect(stack).toContain(join('commander', 'lib', 'command.js'));
  });
});

/** Returns the first bytes of all compiled code. */
const codeMark = () => new Script('').createCachedData().subarray(0, 8);

function positionsOf(content: Buffer, mark: Buffer): number[] {
  const positions = [];
  for (let at = content.indexOf(mark); at >= 0; at = content.indexOf(mark, at + 1)) positions.push(at);
  return positions;
}
