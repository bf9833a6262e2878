import { Command } from 'commander';
import { join } from 'node:path';
import { loadConfig } from '../config/config';
import { startEmbeddedPostgres } from '../database/embedded/embedded-postgres';
import { migrate, SANDBOX_MIGRATIONS } from '../database/migrations';
import { startSandbox } from '../start/sandbox-process';
import { onStop } from '../start/stop';

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('run the pretended upstream alone, on SANDBOX_PORT (4010)')
    .addHelpText('after', '\nIts address and keys are written to sandbox.json in DATA_DIR (.data).')
    .action(run);
}

async function run(): Promise<void> {
  const config = loadConfig();
  const postgres = await startEmbeddedPostgres(config.dataDir, { joinRunning: true });
  try {
    await migrate(postgres.urls.sandbox, SANDBOX_MIGRATIONS);
    const sandbox = await startSandbox(config, postgres.urls.sandbox, config.sandboxPort);
    process.stdout.write(
      `The sandbox is ready   ${sandbox.url}\n  keys in ${join(config.dataDir, 'sandbox.json')}; Ctrl-C stops it.\n`,
    );
    await new Promise<void>(onStop);
    await sandbox.stop();
  } finally {
    await postgres.stop();
  }
}
