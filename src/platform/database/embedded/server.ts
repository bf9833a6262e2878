import { ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childEnvironment } from '../../config/child-environment';
import { StartError } from '../../config/config';
import { Home } from './home';

/**
 * Runs the server for as long as its standard input is open, so that no way in which the proxy can end leaves a server
 * running: when the proxy is gone, the system closes the pipe. A shell takes a megabyte, and has no Ctrl-C of its own.
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
 * After each checkpoint the first change of a page puts the whole page into the log. By default it is time for one after half a
 * gigabyte, under load some times a minute, and then a third of the log is such pages. Not more: a server that crashed reads all
 * of it before it answers.
 */
const CHECKPOINTS = ['max_wal_size=2GB', 'checkpoint_timeout=15min'];

const LOOK_AGAIN_MS = 20;

/** A server that crashed reads its whole log first. */
const START_PATIENCE_MS = 300_000;

export interface RunningServer {
  /** Stops it, and resolves once it has ended. Clients that are connected are cut off, what is committed stays. */
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
    detached: true, // a Ctrl-C is for the proxy, which stops the server last
    env: childEnvironment({ LC_ALL: 'C', TZ: 'UTC' }),
    stdio: ['pipe', 'ignore', 'ignore'],
    ...home.user,
  });
  supervisor.unref();
  supervisor.stdin.on('error', () => undefined); // its end says the same
  (supervisor.stdin as unknown as { unref?: () => void }).unref?.();
  let isOver = false; // by an exit code, by a signal, or because there is no shell
  const ended = new Promise<void>((resolve) => {
    for (const end of ['close', 'error'] as const) supervisor.once(end, () => resolve());
  }).then(() => void (isOver = true));
  const stop = async () => {
    supervisor.stdin.end();
    await alive(supervisor, ended);
  };
  const patienceEnds = performance.now() + START_PATIENCE_MS;
  while (!isReady(home, leftBehind)) {
    if (isOver || performance.now() > patienceEnds) {
      await stop();
      throw new StartError(`the embedded Postgres did not start (${reasonIn(log, logged)}). Read ${log}.`);
    }
    await sleep(LOOK_AGAIN_MS);
  }
  return { stop };
}

/** Waits for its end, for which the event loop must not end before. */
async function alive(supervisor: ChildProcess, ended: Promise<void>): Promise<void> {
  supervisor.ref();
  await ended;
}

/** Line by line, `postmaster.pid` says whose it is, since when, and how far the server is. */
function readState(home: Home): string[] {
  const file = join(home.cluster, 'postmaster.pid');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
}

/** @param leftBehind what a server that crashed has said. */
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
