import { Command } from 'commander';
import { auditActivityCommand } from './audit-activity';
import { auditEraseCommand } from './audit-erase';
import { auditCheckExportCommand, auditExportCommand } from './audit-export';
import { auditNewKeyCommand } from './audit-new-key';
import { auditPruneCommand } from './audit-prune';
import { auditVerifyCommand } from './audit-verify';

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
