import { Command } from 'commander';
import { auditEraseCommand } from './audit-erase';
import { auditCheckExportCommand, auditExportCommand } from './audit-export';
import { auditPruneCommand } from './audit-prune';

export function auditCommands(): Command {
  return new Command('audit')
    .description('what auditors are owed: exports, erasing people, and letting old records go')
    .addCommand(auditExportCommand())
    .addCommand(auditCheckExportCommand())
    .addCommand(auditEraseCommand())
    .addCommand(auditPruneCommand());
}
