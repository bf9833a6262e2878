import { Command } from 'commander';
import type { VerifyOptions } from './verify-log';

const EXAMPLES = `
Recomputes the whole log. The command compares each record, body, and recipient with its leaf, the leaves
with every signed checkpoint, and the checkpoints with the copies of a witness outside the database. It
reports the first fault and its position.

Exit codes: 0 if all records match the log, 3 after tampering, 1 without a result.

The log's key may be changed. An old verifier key is enough: the command learns the next keys from
checkpoints that it signed.

The result relies on the key, on copies of the checkpoints that the database's administrators cannot write,
and on a database server that returns its data unchanged. If you do not trust the server, verify a backup on
another one.

Examples:
  npm run cli -- audit verify
  npm run cli -- audit verify --checkpoint /media/witness/checkpoints --key payout-proxy+0a1b2c3d+AdH…
  npm run cli -- audit verify --json`;

export function auditVerifyCommand(): Command {
  return new Command('verify')
    .description('recompute the log and report the first fault')
    .option('--checkpoint <file>', 'copies of the checkpoints (default: CHECKPOINT_FILE, if it exists)')
    .option('--key <key>', "verifier key of the log, or a file of them (default: the proxy's own keys)")
    .option('--json', 'print the report as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: VerifyOptions) => (await import('./verify-log.js')).verify(options));
}
