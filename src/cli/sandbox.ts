import { join } from 'node:path';
import { Command } from 'commander';
import { startSandbox } from '../app/start/sandbox-process';
import { onStop } from '../app/start/stop';
import { loadConfig, StartError } from '../platform/config/config';
import { startEmbeddedPostgres } from '../platform/database/embedded/embedded-postgres';
import { migrateAtStart, SANDBOX_MIGRATIONS } from '../platform/database/migrations/migrations';

const HELP = `
The command writes its address and keys to sandbox.json in DATA_DIR (default: .data).

Examples:
  npm run cli -- sandbox
  SANDBOX_PORT=4020 npm run cli -- sandbox`;

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('run only the simulated upstream, on SANDBOX_PORT (default: 4010)')
    .addHelpText('after', HELP)
    .action(run);
}

async function run(): Promise<void> {
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
