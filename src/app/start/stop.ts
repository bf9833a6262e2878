import { readFileSync } from 'node:fs';

const PARENT_CHECK_MS = 500;

/** Read as early as possible. Later, npm may have ended without a trace. */
const NPM = process.env.npm_lifecycle_event === undefined ? [] : waysToNpm();

/**
 * Calls `stop` once: at SIGTERM, at SIGINT, when the terminal closes, or when the npm that runs the proxy
 * ends. A signal to npm may end npm and its shell without reaching this process. The embedded Postgres and
 * the sandbox would then keep running.
 * @param stop receives the reason, such as `SIGTERM`, and a signal that is aborted once the end is urgent: at
 * once after Ctrl-C, and without terminal or npm. After SIGTERM, which a load balancer must notice first, it
 * is aborted by the next signal.
 */
export function onStop(stop: (reason: string, urgent: AbortSignal) => void): void {
  const urgent = new AbortController();
  let stopping = false;
  const requestStop = (reason: string, kind: 'urgent' | 'orderly' = 'urgent') => {
    if (stopping || kind === 'urgent') urgent.abort();
    if (stopping) return;
    stopping = true;
    stop(reason, urgent.signal);
  };
  for (const name of ['SIGINT', 'SIGHUP']) process.on(name, () => requestStop(name));
  process.on('SIGTERM', (name) => requestStop(name, 'orderly'));
  if (NPM.length === 0) return;
  setInterval(() => NPM.some((runs) => !runs()) && requestStop('npm has ended'), PARENT_CHECK_MS).unref();
}

/**
 * Returns tests that the npm of this proxy still runs. npm starts the proxy directly or through a shell,
 * which does not end with its npm. Ignores processes above npm: `nohup npm start &` outlives its terminal.
 */
function waysToNpm(): (() => boolean)[] {
  const parent = process.ppid;
  const isParentThere = () => process.ppid === parent;
  if (!isShellOfNpm(parent)) return [isParentThere];
  const npm = parentOf(parent);
  return [isParentThere, () => parentOf(parent) === npm];
}

/** npm runs a script as `sh -c <script>`. Without /proc, its shell is taken for npm. */
function isShellOfNpm(pid: number): boolean {
  return readProc(pid, 'cmdline')?.split('\0')[1] === '-c';
}

/** Returns the parent of a process. It follows the name, which may contain anything, and the state. */
function parentOf(pid: number): string | undefined {
  return /^.*\) \S (\d+) /s.exec(readProc(pid, 'stat') ?? '')?.[1];
}

function readProc(pid: number, file: 'cmdline' | 'stat'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined; // the process is gone, or there is no /proc
  }
}
