import { ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedUrls } from '../../../src/platform/database/embedded/access';
import { startEmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres';
import { Home, prepareHome } from '../../../src/platform/database/embedded/home';
import { migrate, PROXY_MIGRATIONS } from '../../../src/platform/database/migrations/migrations';
import { eventually } from '../payments/paying';
import { signalServer } from './own-postgres';

const running = new Set<ChildProcess>();

/** Stops servers left by a failed test. */
afterAll(() => {
  for (const { pid } of running) if (pid !== undefined) signalServer(pid, 'SIGKILL');
});

/** Files of a migrated Postgres without a running server. */
export interface Cluster {
  home: Home;
  urls: EmbeddedUrls;
}

/** @param dataDir a folder that every user may enter. */
export async function makeCluster(dataDir: string, settings: string[]): Promise<Cluster> {
  const postgres = await startEmbeddedPostgres(dataDir, { settings });
  await migrate(postgres.urls.owner, PROXY_MIGRATIONS);
  await postgres.stop();
  return { home: prepareHome(dataDir), urls: postgres.urls };
}

/** A Postgres server, primary or standby, that can be frozen, killed, and restarted at the same port. */
export class PostgresServer {
  private process: ChildProcess | undefined;

  /** @param files its data directory. */
  constructor(
    private readonly home: Home,
    readonly files: string,
    readonly port: number,
  ) {}

  get isRunning(): boolean {
    return this.process !== undefined && this.process.exitCode === null && this.process.signalCode === null;
  }

  /** Resolves once it accepts connections. */
  async start(settings: string[]): Promise<void> {
    const options = ['max_connections=200', 'unix_socket_directories=', ...settings];
    rmSync(this.pidFile, { force: true }); // Another process may have the process ID of a killed one.
    const server = spawn(
      join(this.home.binaries, 'postgres'),
      [
        '-D',
        this.files,
        '-p',
        String(this.port),
        '-h',
        '127.0.0.1',
        ...options.flatMap((option) => ['-c', option]),
      ],
      { cwd: this.home.directory, env: { LC_ALL: 'C', TZ: 'UTC' }, stdio: 'ignore', ...this.home.user },
    );
    this.process = server;
    running.add(server);
    server.once('close', () => running.delete(server));
    await eventually(() => {
      if (!this.isRunning) throw new Error(`the Postgres in ${this.files} did not start`);
      return ['ready', 'standby'].includes(this.state);
    });
  }

  freeze(): void {
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
  }

  /** Ends all its processes at once, like a power failure. */
  kill(): Promise<void> {
    return this.end(() => this.signal('SIGKILL'));
  }

  /** Shuts it down. Its clients are disconnected. */
  stop(): Promise<void> {
    return this.end(() => this.process?.kill('SIGINT'));
  }

  private async end(how: () => void): Promise<void> {
    if (!this.isRunning) return;
    const ended = new Promise((resolve) => this.process?.once('close', resolve));
    this.thaw(); // A frozen one would not exit.
    how();
    await ended;
  }

  private signal(name: NodeJS.Signals): void {
    if (this.isRunning && this.process?.pid !== undefined) signalServer(this.process.pid, name);
  }

  private get pidFile(): string {
    return join(this.files, 'postmaster.pid');
  }

  /** The eighth line of its PID file. */
  private get state(): string {
    if (!existsSync(this.pidFile)) return '';
    return readFileSync(this.pidFile, 'utf8').split('\n')[7]?.trim() ?? '';
  }
}
