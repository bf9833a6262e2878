import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Config, StartError } from '../../platform/config/config';
import { childEnvironment } from '../../platform/config/environment/child-environment';
import { writePrivateJson } from '../../platform/config/secrets/private-file';
import { Secret } from '../../platform/config/secrets/secret';
import { LOCKS } from '../../platform/database/locks';
import { SessionLock } from '../../platform/database/pools/session-lock';

export interface RunningSandbox {
  url: string;
  apiKey: Secret;
  /** How the process ended, such as `SIGKILL`. Pending until it does. */
  ended: Promise<string>;
  stop(): Promise<void>;
}

interface SandboxFile {
  url: string;
  apiKey: string;
  controlKey: string;
}

/**
 * Starts the sandbox as a separate process. Like a real upstream, it can hang, crash, and be killed alone.
 * Its address and keys are written to DATA_DIR/sandbox.json, which only its owner may read.
 */
export async function startSandbox(
  config: Config,
  databaseUrl: string,
  port: number,
): Promise<RunningSandbox> {
  const file = join(config.dataDir, 'sandbox.json');
  // Two sandboxes on the same data would have different faults, and the file would name the wrong one.
  const lock = await SessionLock.take(databaseUrl, LOCKS.sandbox);
  if (!lock) {
    throw new StartError(
      `another sandbox already uses this database, at ${read(file)?.url}. Use that sandbox, or set ` +
        'DATA_DIR to another folder.',
    );
  }
  try {
    const sandbox = await launch(config, databaseUrl, port, file);
    const stop = async () => {
      await sandbox.stop();
      await lock.release();
    };
    return { ...sandbox, stop };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function launch(
  config: Config,
  databaseUrl: string,
  port: number,
  file: string,
): Promise<RunningSandbox> {
  const apiKey =
    config.upstreamApiKey?.reveal() ?? read(file)?.apiKey ?? `sandbox_${randomBytes(24).toString('hex')}`;
  const child = fork(join(__dirname, '..', '..', 'sandbox', 'main.js'), {
    // Ctrl-C reaches the proxy first, which finishes requests in flight and then stops the sandbox
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: childEnvironment({
      SANDBOX_UNIT_NAME: config.upstreamUnitName, // by default, both use the same unit name
      ...revealed(config.sandboxBehaviour),
      SANDBOX_DATABASE_URL: databaseUrl,
      SANDBOX_PORT: String(port),
      SANDBOX_API_KEY: apiKey,
      SANDBOX_CONTROL_KEY: config.sandboxControlKey.reveal(),
    }),
  });
  const ended = new Promise<string>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`)),
  );
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message: { ready?: { url: string }; failed?: string }) =>
      message.ready
        ? resolve(message.ready.url)
        : reject(new StartError(message.failed ?? 'the sandbox did not start')),
    );
    void ended.then(() => reject(new StartError('the sandbox stopped before it was ready')));
  });
  const content: SandboxFile = { url, apiKey, controlKey: config.sandboxControlKey.reveal() };
  writePrivateJson(file, content);
  return {
    url,
    apiKey: new Secret(apiKey),
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      child.kill('SIGCONT'); // a stopped process cannot receive the first signal
      await ended;
    },
  };
}

function revealed(variables: Readonly<Record<string, Secret>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value.reveal()]));
}

function read(file: string): SandboxFile | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SandboxFile) : undefined;
}
