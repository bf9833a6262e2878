import { ChildProcess, spawn } from 'node:child_process';
import { chownSync, chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { findPort } from '../../../src/platform/database/embedded/server';
import { eventually } from '../payments/paying';
import { removeDataDir } from '../processes/data-dir';

const PROGRAM = '/usr/sbin/pgbouncer';

/** Debian's package. It refuses to run as root. */
export const HAS_PGBOUNCER = existsSync(PROGRAM);
const POSTGRES = { uid: 101, gid: 104 };

/** A PgBouncer in front of a database. */
export class PgBouncer {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly dir: string,
    private readonly port: number,
    private readonly parameters: string,
  ) {}

  /** @param parameters lines of its configuration, such as `pool_mode = transaction`. */
  static async start(server: string, parameters: string): Promise<PgBouncer> {
    const dir = mkdtempSync(join(tmpdir(), 'payout-proxy-pgbouncer-'));
    chmodSync(dir, 0o755);
    const bouncer = new PgBouncer(dir, await findPort(0), parameters);
    bouncer.configure(server);
    bouncer.run();
    await eventually(() =>
      bouncer.console('SHOW VERSION').then(
        () => true,
        () => false,
      ),
    );
    return bouncer;
  }

  /** Returns the same address through the pooler. */
  through(url: string): string {
    return Object.assign(new URL(url), { port: String(this.port) }).toString();
  }

  /** Reroutes existing connections to another server. */
  async moveTo(server: string): Promise<void> {
    this.configure(server);
    await this.console('RELOAD');
    await this.console('RECONNECT');
  }

  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.child?.once('close', resolve));
    this.child?.kill('SIGKILL');
    await ended;
  }

  run(): void {
    const user = process.getuid?.() === 0 ? POSTGRES : {};
    this.child = spawn(PROGRAM, ['-q', join(this.dir, 'pgbouncer.ini')], { stdio: 'ignore', ...user });
  }

  async close(): Promise<void> {
    await this.kill();
    removeDataDir(this.dir);
  }

  /** Statements of its console take no parameters. */
  private async console(statement: string): Promise<void> {
    const client = new Client({
      host: '127.0.0.1',
      port: this.port,
      user: 'admin',
      password: 'admin',
      database: 'pgbouncer',
    });
    client.on('error', () => undefined);
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  private configure(server: string): void {
    const { hostname, port, username, password, pathname } = new URL(server);
    this.write('users.txt', `"${username}" "${password}"\n"admin" "admin"\n`);
    this.write(
      'pgbouncer.ini',
      `[databases]
${pathname.slice(1)} = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${this.port}
unix_socket_dir =
auth_type = plain
auth_file = ${join(this.dir, 'users.txt')}
admin_users = admin
${this.parameters}
`,
    );
  }

  private write(name: string, text: string): void {
    const file = join(this.dir, name);
    writeFileSync(file, text, { mode: 0o600 });
    if (process.getuid?.() === 0) chownSync(file, POSTGRES.uid, POSTGRES.gid);
  }
}
