import { Command } from 'commander';
import { auditActivityCommand } from './audit-activity';
import { auditEraseCommand } from './audit-erase';
import { auditCheckExportCommand, auditExportCommand } from './audit-export';
import { auditPruneCommand } from './audit-prune';
import { auditVerifyCommand } from './audit-verify';
import { ClientError } from '../access/clients/client-error';
import { newSigningKey } from '../history/log/note';

export function auditCommands(): Command {
  return new Command('audit')
    .description('export the history, list changes, verify the log, erase people, and prune old records')
    .addCommand(auditExportCommand())
    .addCommand(auditCheckExportCommand())
    .addCommand(auditActivityCommand())
    .addCommand(auditVerifyCommand())
    .addCommand(auditEraseCommand())
    .addCommand(auditPruneCommand())
    .addCommand(auditNewKeyCommand());
}

const HELP = `
The key is printed once and not stored. Anyone who has it can sign the log, so keep it secret. Give all instances the same key.
To change the key of a log, make one with the same name, and set LOG_SIGNING_KEY=<new key>,<old key> on all instances until a
checkpoint is signed by both (docs/operate/log-and-retention.md).

Example:
  LOG_SIGNING_KEY=$(npm run -s cli -- audit new-key payouts.example.com)`;

function auditNewKeyCommand(): Command {
  return new Command('new-key')
    .description('create a signing key for the log, for LOG_SIGNING_KEY')
    .argument('[name]', 'globally unique name of the log, ideally under a domain of yours', 'payout-proxy')
    .addHelpText('after', HELP)
    .action((name: string) => {
      process.stdout.write(`${keyNamed(name)}\n`);
    });
}

function keyNamed(name: string): string {
  try {
    return newSigningKey(name);
  } catch (error) {
    throw new ClientError((error as Error).message);
  }
}
