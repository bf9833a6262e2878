import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { BUILD } from '../platform/build';
import { StartError } from '../platform/config/config';
import { Problem } from '../platform/errors/problem';
import { unexpectedFailure } from '../platform/logging/failure';
import { auditCommands } from './audit/audit';
import { callsCommands, payoutsCommands } from './calls/calls';
import { approvalsCommands, changesCommands } from './calls/decisions';
import { feesCommands } from './calls/fees';
import { stopCommands } from './calls/stop';
import { accountsCommands } from './clients/accounts';
import { clientsCommands } from './clients/clients';
import { keysCommands } from './clients/keys';
import { signInsCommands } from './clients/sign-ins';
import { databaseCommands } from './database/database';
import { backupCommand } from './database/database-backup';
import { recoverCommand } from './database/database-recover';
import { restoreCommand } from './database/database-restore';
import { replicateSearchCommand } from './database/database-search';
import { forTerminal } from './output';
import { findingsCommands } from './reconcile/findings';
import { reconcileCommand } from './reconcile/reconcile';
import { docsCommand, openapiCommand } from './reference';
import { sandboxCommand } from './sandbox';

/** Every command of `npm run cli`. */
export const operatorCommands = () =>
  new Command('payout-proxy')
    .description('operate payout-proxy; each command has its own --help')
    .version(`${BUILD.version} (${BUILD.commit})`, '-V, --version', 'print the version and commit')
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
    .addCommand(feesCommands())
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

/**
 * Runs the command in the arguments. Prints an error to standard error, also with --json, and sets the exit
 * code 1. Standard output has only results.
 */
export async function runCommand(args: string[]): Promise<void> {
  const program = operatorCommands();
  let running = program.name();
  program.hook('preAction', (_program, command) => void (running = pathOf(command)));
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    const isKnown = [ClientError, StartError, Problem].some((kind) => error instanceof kind);
    const text = isKnown ? (error as Error).message : unexpectedFailure(running, error);
    process.stderr.write(`${forTerminal(text)}\n`);
    process.exitCode = 1;
  }
}

/** Returns the words of a command, such as `database backup`. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}
