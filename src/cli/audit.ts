import { Command } from 'commander';
import { auditVerifyCommand } from './audit-verify';

export function auditCommands(): Command {
  return new Command('audit').description('the history: that it is as it was sealed').addCommand(auditVerifyCommand());
}
