/** Child processes of a benchmark: they say where they listen, and Linux says what they cost. */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Linux counts in hundredths of a second for everybody, whatever its own clock is. */
const TICKS_PER_SECOND = 100;

/** Often enough that a start is told to some milliseconds. */
const LOOK_EVERY_MS = 5;

/** Whether what processes cost can be told here. */
export const canMeasure = existsSync('/proc/self/stat');

/**
 * Starts `node file` and waits until it says where it listens.
 * @param found how its output says so; the first group is the address.
 * @param logFile where its output goes; without one, its errors go where ours go.
 * @param ipc whether it hears `tell`.
 */
export async function startNode(file, { env = {}, args = [], found = /"url":"(http:[^"]+)"/, cwd, logFile, ipc } = {}) {
  const output = logFile ?? join(mkdtempSync(join(tmpdir(), 'payout-proxy-said-')), 'log');
  const log = openSync(output, 'a+');
  const begin = fstatSync(log).size;
  const child = spawn(process.execPath, [...args, file], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', log, logFile ? log : 'inherit', ...(ipc ? ['ipc'] : [])],
  });
  let code;
  const ended = new Promise((resolve) => child.once('exit', (status) => resolve((code = status ?? 1))));
  const said = () => readFileSync(output, 'utf8').slice(begin);
  while (code === undefined && !found.test(said())) await sleep(LOOK_EVERY_MS);
  closeSync(log);
  if (code !== undefined) throw new Error(`${file} ended (${code}) before it listened: ${said()}`);
  const [, url] = found.exec(said());
  if (!logFile) rmSync(dirname(output), { recursive: true });
  return {
    url,
    pid: child.pid,
    /** To its process.on('message'). */
    tell: (message) => child.send(message),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** What a process has used so far, user and system, in seconds. */
export function cpuSecondsOf(pid) {
  return ticksOf(pid).own / TICKS_PER_SECOND;
}

/** The same of a process, its family and the children that it had: a Postgres with its backends. */
export function cpuSecondsOfFamily(pid) {
  const children = familyOf(pid)
    .slice(1)
    .reduce((sum, child) => sum + ticksOf(child).own, 0);
  const { own, ended } = ticksOf(pid);
  return (own + ended + children) / TICKS_PER_SECOND;
}

/** Resident memory, in MB (10^6 bytes). */
export function rssOf(pid) {
  const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kib) * 1_024) / 1e6;
}

function ticksOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' '); // a name may have spaces
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
    return { own: user + system, ended: endedUser + endedSystem };
  } catch {
    return { own: 0, ended: 0 }; // it has ended
  }
}

/** A process, its children and theirs. */
export function familyOf(pid) {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=']).toString().trim().split('\n');
  const all = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const family = [pid];
  for (const one of family) family.push(...all.flatMap(([child, parent]) => (parent === one ? [child] : [])));
  return family;
}
