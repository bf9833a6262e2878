import { join } from 'node:path';
import { startSandbox } from '../app/start/sandbox-process';
import { onStop } from '../app/start/stop';
import { loadConfig, StartError } from '../platform/config/config';
import { startEmbeddedPostgres } from '../platform/database/embedded/embedded-postgres';
import { migrateAtStart, SANDBOX_MIGRATIONS } from '../platform/database/migrations/migrations';
import { beginCommandLog } from './terminal';

/** Runs the sandbox on the embedded Postgres until a signal. */
export async function runSandbox(): Promise<void> {
  await beginCommandLog();
  const config = loadConfig();
  const postgres = await startEmbeddedPostgres(config.dataDir, { joinRunning: true });
  try {
    await migrateAtStart(postgres.urls.sandbox, SANDBOX_MIGRATIONS, config.migrateOnStart);
    const sandbox = await startSandbox(config, postgres.urls.sandbox, config.sandboxPort);
    process.stdout.write(banner(sandbox.url, join(config.dataDir, 'sandbox.json')));
    const signal = new Promise<undefined>((resolve) => onStop(() => resolve(undefined)));
    const ended = await Promise.race([signal, sandbox.ended]);
    await sandbox.stop();
    if (ended !== undefined) throw new StartError(`the sandbox has stopped (${ended})`);
  } finally {
    await postgres.stop();
  }
}

/** Returns the next steps for a newcomer. */
function banner(url: string, keys: string): string {
  const controlKey = `X-Sandbox-Control-Key: $(grep '"controlKey"' '${keys}' | cut -d'"' -f4)`;
  return [
    `The sandbox is ready   ${url}`,
    `  Its keys are in ${keys}. Press Ctrl-C to stop it.`,
    '  To let the next airtime payout be paid without a response:',
    `    curl -s ${url}/_sandbox/faults -H "${controlKey}" -H 'Content-Type: application/json' \\`,
    `      -d '{"fault":"noResponse","operation":"POST /payouts/airtime","nth":1}'`,
    '',
  ].join('\n');
}
