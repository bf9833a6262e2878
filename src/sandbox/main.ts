import { createSandbox } from './app';
import { readSettings, StartFailure } from './behaviour/settings';

/**
 * Runs the sandbox as a process of its own. With an IPC channel, it sends its parent `{ ready: { url } }` or
 * `{ failed: "<one sentence>" }`, and ends when the parent dies. Without one, it prints its address, or one
 * line on stderr.
 */

/** How long requests in flight may take after SIGTERM. */
const CLOSE_DEADLINE_MS = 10_000;

async function run(): Promise<void> {
  // Whoever reads its output may end first, such as `head` or a terminal. Without a listener, that would end
  // the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  // Until it listens, nothing needs to be completed, so a signal or the parent's death ends the process
  // directly.
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
  // Only the kind of an unexpected failure is printed, because a driver's own text may contain parts of the
  // connection string.
  const { name, code } = error as { name?: string; code?: string };
  const unforeseen = `sandbox cannot start: unexpected ${[name, code].filter(Boolean).join(' ')}`;
  const sentence = error instanceof StartFailure ? error.message : unforeseen;
  if (process.send) await tellParent({ failed: sentence });
  else process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Resolves when the message is sent or cannot be sent. 'disconnect' handles a missing parent. */
function tellParent(message: object): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send || !process.connected) return resolve();
    process.send(message, undefined, undefined, () => resolve());
  });
}

run().catch(fail);
