import { createSandbox } from './app';
import { readSettings, StartFailure } from './settings';

/**
 * The sandbox as a process of its own. With an IPC channel its parent hears `{ ready: { url } }` or `{ failed: "<one sentence>" }`,
 * and the parent's death ends it; without one it prints its address, or one line on stderr.
 */

/** Requests in flight at a SIGTERM get this long to be answered. */
const CLOSE_DEADLINE_MS = 10_000;

async function run(): Promise<void> {
  // Until it listens nothing needs to be finished, so a signal or a dead parent may just end the process.
  const orphaned = () => process.exit(0);
  process.once('disconnect', orphaned);

  const sandbox = await createSandbox(readSettings(process.env));

  let closing = false;
  const close = () => {
    if (closing) return;
    closing = true;
    setTimeout(() => process.exit(1), CLOSE_DEADLINE_MS).unref();
    sandbox.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.off('disconnect', orphaned);
  process.once('disconnect', close);
  process.on('SIGTERM', close);
  process.on('SIGINT', close);

  if (process.send) await tellParent({ ready: { url: sandbox.url } });
  else process.stdout.write(`sandbox listens on ${sandbox.url}\n`);
}

async function fail(error: unknown): Promise<void> {
  // Of a failure that nobody foresaw its kind only: a driver's own text may hold parts of the connection string.
  const { name, code } = error as { name?: string; code?: string };
  const unforeseen = `sandbox cannot start: unexpected ${[name, code].filter(Boolean).join(' ')}`;
  const sentence = error instanceof StartFailure ? error.message : unforeseen;
  if (process.send) await tellParent({ failed: sentence });
  else process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Resolves when the message is handed over, or cannot be: a parent that is gone is the business of 'disconnect'. */
function tellParent(message: object): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send || !process.connected) return resolve();
    process.send(message, undefined, undefined, () => resolve());
  });
}

run().catch(fail);
