import { ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../config/config';
import { childEnvironment } from '../../config/environment/child-environment';
import { Home } from './home';

/**
 * Runs the server as long as its standard input is open. When the proxy ends in any way, the system closes
 * the pipe, so no server is left running. A shell takes one megabyte and does not receive Ctrl-C.
 */
const SUPERVISOR = `
umask 077
log=$1; shift
exec 3<&0
"$@" </dev/null >>"$log" 2>&1 3<&- &
server=$!
{ read -r _ <&3; kill -INT "$server"; } 2>/dev/null &
watch=$!
exec 3<&-
wait "$server"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
`;

/**
 * Settings for fewer checkpoints. After each, the first change of a page writes the whole page to the WAL.
 * With the default of half a gigabyte, a checkpoint comes several times a minute under load, and a third of
 * the WAL is such pages. A higher limit would delay the start after a crash, which reads all of it.
 */
const CHECKPOINTS = ['max_wal_size=2GB', 'checkpoint_timeout=15min'];

const LOOK_AGAIN_MS = 20;

/** Time limit of a start. A crashed server reads its whole WAL first. */
const START_TIMEOUT_MS = 300_000;

export interface RunningServer {
  /** Stops the server, and resolves once it has ended. Disconnects clients. Committed data stays. */
  stop(): Promise<void>;
}

/** @throws StartError if it does not start. */
export async function startServer(home: Home, port: number, settings: string[]): Promise<RunningServer> {
  const log = join(home.directory, 'postgres.log');
  const logged = existsSync(log) ? readFileSync(log).length : 0;
  const leftBehind = readState(home);
  const options = ['max_connections=200', ...CHECKPOINTS, ...settings].flatMap((setting) => ['-c', setting]);
  const address = ['-p', String(port), '-h', '127.0.0.1', '-c', 'unix_socket_directories='];
  const program = [join(home.binaries, 'postgres'), '-D', home.cluster, ...address, ...options];
  const supervisor = spawn('/bin/sh', ['-c', SUPERVISOR, 'payout-proxy-postgres', log, ...program], {
    cwd: home.directory,
    detached: true, // Ctrl-C is for the proxy, which stops the server last
    env: childEnvironment({ LC_ALL: 'C', TZ: 'UTC' }),
    stdio: ['pipe', 'ignore', 'ignore'],
    ...home.user,
  });
  supervisor.unref();
  supervisor.stdin.on('error', () => undefined); // the end of the process reports it too
  (supervisor.stdin as unknown as { unref?: () => void }).unref?.();
  let isOver = false; // by an exit code, by a signal, or without a shell
  const ended = new Promise<void>((resolve) => {
    for (const end of ['close', 'error'] as const) supervisor.once(end, () => resolve());
  }).then(() => void (isOver = true));
  const stop = async () => {
    supervisor.stdin.end();
    await alive(supervisor, ended);
  };
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!isReady(home, leftBehind)) {
    if (isOver || performance.now() > deadline) {
      await stop();
      throw new StartError(`the embedded Postgres did not start (${reasonIn(log, logged)}). Read ${log}.`);
    }
    await sleep(LOOK_AGAIN_MS);
  }
  return { stop };
}

/** Waits for the end of the process, and keeps the event loop alive until then. */
async function alive(supervisor: ChildProcess, ended: Promise<void>): Promise<void> {
  supervisor.ref();
  await ended;
}

/** Returns the lines of `postmaster.pid`: the owner, the start time, and the state of the server. */
function readState(home: Home): string[] {
  const file = join(home.cluster, 'postmaster.pid');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
}

/** @param leftBehind the lines that a crashed server wrote. */
function isReady(home: Home, leftBehind: string[]): boolean {
  const state = readState(home);
  const isNew = state[0] !== leftBehind[0] || state[2] !== leftBehind[2];
  return isNew && state[7]?.trim() === 'ready';
}

function reasonIn(log: string, from: number): string {
  const said = existsSync(log) ? readFileSync(log).subarray(from).toString() : '';
  const lines = said.trim().split('\n');
  return lines.find((line) => /error|fatal/i.test(line)) ?? (lines.at(-1) || 'its log is empty');
}

/** Returns a free port on 127.0.0.1, the previous one if it is still free. */
export async function findPort(lastTime: number): Promise<number> {
  return lastTime !== 0 && (await isFree(lastTime)) ? lastTime : freePort();
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === 'object' && bound ? bound.port : 0));
    });
  });
}

/** Returns whether a server of the home runs, of any owner. */
export async function isRunning(home: Home): Promise<boolean> {
  return (await execute(home, 'pg_ctl', ['status', '--pgdata', home.cluster])).code === 0;
}

/** @throws StartError if the program fails. */
export async function run(home: Home, program: 'initdb' | 'pg_ctl', args: string[]): Promise<void> {
  const { code, output } = await execute(home, program, args);
  if (code === 0) return;
  const log = join(home.directory, 'postgres.log');
  appendFileSync(log, output);
  home.own(log); // otherwise the server could not write it
  const lines = output.trim().split('\n');
  const reason = lines.find((line) => /error|fatal/i.test(line)) ?? (lines.at(-1) || `exit code ${code}`);
  throw new StartError(`${program} of the embedded Postgres failed (${reason}). Read ${log}.`);
}

/** Runs a program of Postgres as the user of the home. */
export function execute(
  home: Home,
  program: string,
  args: string[],
): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(home.binaries, program), args, {
      cwd: home.directory,
      detached: true, // Ctrl-C is for the proxy, and must not interrupt this program
      env: childEnvironment({ LC_ALL: 'C', TZ: 'UTC' }),
      // The server inherits the streams of pg_ctl, and a pipe would stay open as long as it runs.
      stdio: ['ignore', program === 'initdb' ? 'pipe' : 'ignore', program === 'initdb' ? 'pipe' : 'ignore'],
      ...home.user,
    });
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
