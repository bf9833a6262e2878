import { Command } from 'commander';
import type { EraseOptions } from './erase-people';

const HELP = `
Erases an email address, phone number, or handle from the history:
  - the recipient, the request body, and the response body of each call that pays it
  - every other body that contains it
  - its mentions in the upstream's listings and in statements
  - the searches of auditors for it
  - idempotency keys that contain it. A request with such a key is still recognized
  - its entries in the registers of clients, and in pending and decided changes of them
The records keep their amounts, and every proof remains valid. Backups are not changed. If the upstream
still lists the contact, the next reconciliation stores it again.

Calls that are in doubt, in progress, or pending approval are not changed. The command lists them and exits
with code 2. Settle them, then run the command again.

Persons on whose behalf clients call are erased by --person, or by --recipient if their name is that
contact. Their records keep the ID of the person. A hash of the name is kept for 31 days, so that a
returning person has the same caps and idempotency keys. Access tokens, ephemeral keys and page sessions
from before the erasure are refused.

Examples:
  npm run cli -- audit erase --recipient ada@example.com --reason "request of 2026-11-20, case 17" --dry-run
  npm run cli -- audit erase --recipient - --reason "case 17" --actor dpo --yes < recipient.txt
  npm run -s cli -- audit erase --person user-17 --client shop --reason "case 18" --dry-run`;

export function auditEraseCommand(): Command {
  return new Command('erase')
    .description('erase a person from the history')
    .option(
      '--recipient <contact>',
      'email address, phone number with +, or handle with @; - reads it from stdin',
    )
    .option('--person <name>', 'name or ID of a person on whose behalf clients call; - reads it from stdin')
    .option('--client <name>', 'with --person, only the person of this client')
    .option('--issuer <url>', "with --person, only the person of this issuer's tokens")
    .requiredOption('--reason <text>', 'reason, which is kept forever and must not identify the person')
    .option('--actor <id>', 'ID of the person who runs this command (default: the user of the system)')
    .option('--dry-run', 'show what would be erased, and change nothing')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON: {"id","places","open"}, and "kept" for a person')
    .addHelpText('after', HELP)
    .action(async (options: EraseOptions) => (await import('./erase-people.js')).erasePeople(options));
}
