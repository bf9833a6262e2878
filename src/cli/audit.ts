import { Command } from 'commander';
import { auditEraseCommand } from './audit-erase';
import { auditPruneCommand } from './audit-prune';

export function auditCommands(): Command {
  return new Command('audit')
    .description('what auditors are owed: erasing people, and letting old records go')
    .addCommand(auditEraseCommand())
    .addCommand(auditPruneCommand());
}
