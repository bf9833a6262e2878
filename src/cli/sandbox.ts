import { Command } from 'commander';
import { join } from 'node:path';
import { loadConfig } from '../platform/config/config';
import { startEmbeddedPostgres } from '../platform/database/embedded/embedded-postgres';
import { migrate, SANDBOX_MIGRATIONS } from '../platform/database/migrations';
import { startSandbox } from '../app/start/sandbox-process';
import { onStop } from '../app/start/stop';

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('run the simulated upstream alone, on SANDBOX_PORT (4010)')
    .addHelpText('after', '\nIts address and keys are written to sandbox.json in DATA_DIR (.data).')
    .action(run);
}

async function run(): Promise<void> {
  const config = loadConfig();
  const postgres = await startEmbeddedPostgres(config.dataDir, { joinRunning: true });
  try {
    await migrate(postgres.urls.sandbox, SANDBOX_MIGRATIONS);
    const sandbox = await startSandbox(config, postgres.urls.sandbox, config.sandboxPort);
    process.stdout.write(banner(sandbox.url, join(config.dataDir, 'sandbox.json')));
    await new Promise<void>((resolve) => onStop(() => resolve()));
    await sandbox.stop();
  } finally {
    await postgres.stop();
  }
}

/** What a newcomer can do next. */
function banner(url: string, keys: string): string {
  const controlKey = `X-Sandbox-Control-Key: $(node -p "require('${keys}').controlKey")`;
  return [
    `The sandbox is ready   ${url}`,
    `  keys in ${keys}; Ctrl-C stops it.`,
    '  Let the next airtime payout be paid and not answered:',
    `    curl -s ${url}/_sandbox/faults -H "${controlKey}" -H 'Content-Type: application/json' \\`,
    `      -d '{"fault":"noResponse","operation":"POST /payouts/airtime","nth":1}'`,
    '',
  ].join('\n');
}
