const PARENT_CHECK_MS = 500;

/**
 * Calls `stop` once: at SIGINT or SIGTERM, or when the npm that runs us has gone. A signal sent to npm ends npm and its
 * shell but never reaches us, and then nobody would stop the Postgres and the sandbox that we started.
 */
export function onStop(stop: () => void): void {
  let stopping = false;
  const once = () => {
    if (stopping) return;
    stopping = true;
    stop();
  };
  process.on('SIGINT', once);
  process.on('SIGTERM', once);
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && once(), PARENT_CHECK_MS).unref();
}
