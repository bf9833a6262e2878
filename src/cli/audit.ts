import { Command } from 'commander';
import { auditEraseCommand } from './audit-erase';
import { auditPruneCommand } from './audit-prune';
import { auditVerifyCommand } from './audit-verify';

export function auditCommands(): Command {
  return new Command('audit')
    .description('what auditors are owed: proof of the records, erasing people, and letting old records go')
    .addCommand(auditVerifyCommand())
    .addCommand(auditEraseCommand())
    .addCommand(auditPruneCommand());
}
