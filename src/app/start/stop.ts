import { readFileSync } from 'node:fs';

const PARENT_CHECK_MS = 500;

/**
 * Calls `stop` once: at SIGTERM, at SIGINT, or when the npm that runs us has gone. A signal sent to npm may end npm and
 * its shell without reaching us, and then nobody would stop the Postgres and the sandbox that we started.
 * @param stop is given a signal that is aborted once somebody waits for the end: at once after a Ctrl-C and without npm;
 * after a SIGTERM, which a load balancer must notice first, when another signal comes.
 */
export function onStop(stop: (urgent: AbortSignal) => void): void {
  const urgent = new AbortController();
  let stopping = false;
  const asked = (kind: 'urgent' | 'in good time') => {
    if (stopping || kind === 'urgent') urgent.abort();
    if (stopping) return;
    stopping = true;
    stop(urgent.signal);
  };
  process.on('SIGINT', () => asked('urgent'));
  process.on('SIGTERM', () => asked('in good time'));
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = waysToNpm();
  setInterval(() => npm.some((isThere) => !isThere()) && asked('urgent'), PARENT_CHECK_MS).unref();
}

/**
 * Whether the npm that runs us is still there. It starts us by itself or by a shell, and a shell does not end with its npm.
 * Nothing above npm matters: `nohup npm start &` outlives its terminal.
 */
function waysToNpm(): (() => boolean)[] {
  const parent = process.ppid;
  const isParentThere = () => process.ppid === parent;
  if (!isShellOfNpm(parent)) return [isParentThere];
  const npm = parentOf(parent);
  return [isParentThere, () => parentOf(parent) === npm];
}

/** npm runs a script as `sh -c <script>`. Where there is no /proc, its shell is taken for npm itself. */
function isShellOfNpm(pid: number): boolean {
  return readProc(pid, 'cmdline')?.split('\0')[1] === '-c';
}

/** The name of a program, in brackets, may hold anything; behind it stand its state and its parent. */
function parentOf(pid: number): string | undefined {
  return /^.*\) \S (\d+) /s.exec(readProc(pid, 'stat') ?? '')?.[1];
}

function readProc(pid: number, file: 'cmdline' | 'stat'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined; // it has gone, or there is no /proc
  }
}
