import { createSandbox } from './app';
import { readSettings, StartFailure } from './behaviour/settings';

/**
 * Runs the sandbox as a separate process. With an IPC channel, it sends its parent `{ ready: { url } }` or
 * `{ failed: "<one sentence>" }`, and ends with the parent. Otherwise it prints its address or the failure.
 */

/** Time for requests in flight after SIGTERM. */
const CLOSE_DEADLINE_MS = 10_000;

async function run(): Promise<void> {
  // The reader of the output, such as `head`, may end first. Without a listener, EPIPE ends this process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  // Before it listens, no request is in flight: a signal or the parent's death ends it at once.
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

  if (process.send) await notifyParent({ ready: { url: sandbox.url } });
  else process.stdout.write(`sandbox listens on ${sandbox.url}\n`);
}

async function fail(error: unknown): Promise<void> {
  // Print only the kind of an unexpected failure: a driver's text may contain parts of the connection string.
  const { name, code } = error as { name?: string; code?: string };
  const unexpected = `sandbox cannot start: unexpected ${[name, code].filter(Boolean).join(' ')}`;
  const sentence = error instanceof StartFailure ? error.message : unexpected;
  if (process.send) await notifyParent({ failed: sentence });
  else process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Resolves when the message is sent, or the parent is gone, which 'disconnect' handles. */
function notifyParent(message: object): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send || !process.connected) return resolve();
    process.send(message, undefined, undefined, () => resolve());
  });
}

run().catch(fail);
