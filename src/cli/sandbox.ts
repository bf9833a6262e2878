import { Command } from 'commander';

const HELP = `
The command writes its address and keys to sandbox.json in DATA_DIR (default: .data).

Examples:
  npm run cli -- sandbox
  SANDBOX_PORT=4020 npm run cli -- sandbox`;

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('run only the simulated upstream, on SANDBOX_PORT (default: 4010)')
    .addHelpText('after', HELP)
    .action(async () => (await import('./run-sandbox.js')).runSandbox());
}
