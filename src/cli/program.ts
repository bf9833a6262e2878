import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { StartError } from '../platform/config/config';
import { Problem } from '../platform/errors/problem';
import { accountsCommands } from './accounts';
import { approvalsCommands } from './approvals';
import { callsCommands } from './calls';
import { auditCommands } from './audit';
import { changesCommands } from './changes';
import { clientsCommands } from './clients';
import { databaseCommands } from './database';
import { backupCommand } from './database-backup';
import { recoverCommand } from './database-recover';
import { restoreCommand } from './database-restore';
import { replicateSearchCommand } from './database-search';
import { docsCommand } from './docs';
import { findingsCommands } from './findings';
import { keysCommands } from './keys';
import { openapiCommand } from './openapi';
import { forTerminal } from './output';
import { payoutsCommands } from './payouts';
import { reconcileCommand } from './reconcile';
import { sandboxCommand } from './sandbox';
import { signInsCommands } from './sign-ins';
import { stopCommands } from './stop';

/** Every command of `npm run cli`. */
export const operatorCommands = () =>
  new Command('payout-proxy')
    .description('operate payout-proxy; each command has its own --help')
    .showHelpAfterError()
    .addCommand(clientsCommands())
    .addCommand(keysCommands())
    .addCommand(signInsCommands())
    .addCommand(accountsCommands())
    .addCommand(changesCommands())
    .addCommand(approvalsCommands())
    .addCommand(callsCommands())
    .addCommand(payoutsCommands())
    .addCommand(stopCommands())
    .addCommand(findingsCommands())
    .addCommand(auditCommands())
    .addCommand(reconcileCommand())
    .addCommand(
      databaseCommands()
        .addCommand(backupCommand())
        .addCommand(restoreCommand())
        .addCommand(recoverCommand())
        .addCommand(replicateSearchCommand()),
    )
    .addCommand(sandboxCommand())
    .addCommand(openapiCommand())
    .addCommand(docsCommand(), { hidden: true });

/** Runs the command that the arguments name. On an error, it writes one line to standard error and sets the exit code 1. */
export async function runCommand(args: string[]): Promise<void> {
  try {
    await operatorCommands().parseAsync(args, { from: 'user' });
  } catch (error) {
    const known = [ClientError, StartError, Problem].some((kind) => error instanceof kind);
    const { name, code } = error as { name?: string; code?: string };
    process.stderr.write(
      `${known ? forTerminal((error as Error).message) : `unexpected ${[name, code].filter(Boolean).join(' ')}`}\n`,
    );
    process.exitCode = 1;
  }
}
