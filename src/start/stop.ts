const PARENT_CHECK_MS = 500;

/**
 * Calls `stop` once: at SIGTERM, at SIGINT, or when the npm that runs us has gone. A signal sent to npm ends npm and its
 * shell but never reaches us, and then nobody would stop the Postgres and the sandbox that we started.
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
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && asked('urgent'), PARENT_CHECK_MS).unref();
}
