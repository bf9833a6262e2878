import { ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { UNSAFE_SETTINGS } from '../../../src/continuity/fence/durability.service';

const ROOT = join(__dirname, '..', '..', '..');

/** Created by global-setup.ts, if it ran. Without it, a start takes half as much CPU again. */
const { TEST_COMPILED } = process.env;
const PRELOAD = TEST_COMPILED === undefined ? [] : ['--require', TEST_COMPILED];

export interface Exit {
  code: number | null;
  stdout: string;
  stderr: string;
}

const running = new Set<ChildProcess>();

/** Stops processes left by a failed test. */
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** The product as run by its users: the built files in a separate process. */
export class Product {
  stdout = '';
  stderr = '';
  readonly exit: Promise<Exit>;
  private readonly child: ChildProcess;

  /** @param script a built file, or an absolute path to another program. */
  constructor(script: string, args: string[], env: Record<string, string>, cwd: string) {
    const file = resolve(ROOT, 'dist', script);
    if (!existsSync(file)) throw new Error('dist is missing: npm test builds it first');
    const [program, ...first] = file.endsWith('.js') ? [process.execPath, ...PRELOAD, file] : [file];
    this.child = spawn(program ?? '', [...first, ...args], {
      cwd,
      env: {
        PATH: process.env.PATH ?? '',
        DRAIN_MS: '0',
        START_WORKER: 'false',
        DATABASE_ALLOW_UNSAFE: UNSAFE_SETTINGS.join(),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.child);
    this.child.once('close', () => running.delete(this.child));
    this.child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.exit = new Promise((done) =>
      this.child.once('close', (code) => done({ code, stdout: this.stdout, stderr: this.stderr })),
    );
  }

  /** Waits for words on stdout. Fails if the process ends without them. */
  async said(words: RegExp): Promise<RegExpExecArray> {
    const ended = this.exit.then(({ code, stderr }) => {
      throw new Error(`ended with ${code} before it said ${words.source}: ${stderr}`);
    });
    const heard = new Promise<RegExpExecArray>((resolve) => {
      const listen = () => {
        const match = words.exec(this.stdout);
        if (match) resolve(match);
      };
      this.child.stdout?.on('data', listen);
      listen();
    });
    return Promise.race([heard, ended]);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Closes its output, like `head`. */
  closeOutput(): void {
    this.child.stdout?.destroy();
  }

  signal(name: NodeJS.Signals): Promise<Exit> {
    this.child.kill(name);
    return this.exit;
  }
}

/** Returns the process IDs of a process and its descendants. Linux only. */
export function withDescendants(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(withDescendants)];
}

export function childrenOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // it has exited
  }
}

/** Returns whether a process has exited. Includes one whose parent has not waited for it yet. */
export function isGone(pid: number): boolean {
  try {
    return /^.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

/** Returns the environment of a process on a test's database. */
export function envOf({ url, ownerUrl }: { url: string; ownerUrl: string }): Record<string, string> {
  const database = { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl };
  return {
    PORT: '0',
    WORKER_PORT: '0',
    RESOLVER_EVERY_SECONDS: '0',
    WALLETS_EVERY_SECONDS: '0',
    CHECK_COVERAGE: 'false',
    DUAL_CONTROL: 'false', // tests create clients with commands
    ...database,
  };
}

export function newDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'payout-proxy-start-'));
}

/** The files of a data directory. */
interface DataFiles {
  'demo-keys.json': Record<'app' | 'auditor' | 'admin' | 'approver' | 'reconciler', string>;
  'sandbox.json': { url: string; apiKey: string; controlKey: string };
  'database.json': { port: number; ownerPassword: string };
}

export function readJson<Name extends keyof DataFiles>(dataDir: string, name: Name): DataFiles[Name];
export function readJson<T>(...path: string[]): T;
export function readJson(...path: string[]): unknown {
  return JSON.parse(readFileSync(join(...path), 'utf8')) as unknown;
}
