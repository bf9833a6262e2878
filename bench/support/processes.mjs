/** Child processes of a benchmark. They print their address, and Linux reports their costs. */
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Clock ticks per second of Linux's accounts, independent of the machine's clock. */
const TICKS_PER_SECOND = 100;

/** Polling interval, which measures a start to some milliseconds. */
const LOOK_EVERY_MS = 5;

/**
 * Starts `node file` and waits for its address.
 * @param found matches the address in its output, as the first group.
 * @param logFile for its output. Without one, its errors go to ours.
 * @param ipc whether it receives `tell`.
 */
export async function startNode(
  file,
  { env = {}, args = [], found = /"url":"(http:[^"]+)"/, cwd, logFile, ipc } = {},
) {
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
    /** Sends to its process.on('message'). */
    tell: (message) => child.send(message),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Returns the user and system time of a process so far, in seconds. */
export function cpuSecondsOf(pid) {
  return (statOf(pid)?.own ?? 0) / TICKS_PER_SECOND;
}

/** Returns the time of the children of this process that have ended, in seconds. */
export function cpuSecondsOfEnded() {
  return (statOf(process.pid)?.ended ?? 0) / TICKS_PER_SECOND;
}

/** Returns the same for a process and its descendants, ended ones included, such as Postgres backends. */
export function cpuSecondsOfFamily(...pids) {
  const all = new Set(pids.flatMap(familyOf));
  const ticks = [...all].reduce((sum, pid) => {
    const { own, ended } = statOf(pid) ?? { own: 0, ended: 0 };
    return sum + own + ended;
  }, 0);
  return ticks / TICKS_PER_SECOND;
}

/** Returns the time that the main thread of a process waited for a core, in seconds so far. */
export function waitSecondsOf(pid) {
  const [, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(waited) / 1e9;
}

/** Returns the time that the cores of the machine were busy, or taken by its host, in seconds so far. */
export function busySeconds() {
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/\s+/);
  const [user, nice, system, , , interrupts, softInterrupts, stolen] = ticks.map(Number);
  return (user + nice + system + interrupts + softInterrupts + stolen) / TICKS_PER_SECOND;
}

/** Returns the resident memory in MB (10^6 bytes). */
export function rssOf(pid) {
  const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kib) * 1_024) / 1e6;
}

/** Returns a process, its children and theirs. */
export function familyOf(pid) {
  const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const all = numbers.map((name) => [Number(name), statOf(name)?.parent]);
  const family = [pid];
  for (const one of family) family.push(...all.flatMap(([child, parent]) => (parent === one ? [child] : [])));
  return family;
}

/** Reads /proc. Undefined if the process has ended. */
function statOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '') // A name may have spaces.
      .split(' ');
    const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number);
    return { parent: Number(fields[1]), own: user + system, ended: endedUser + endedSystem };
  } catch {
    return undefined;
  }
}
