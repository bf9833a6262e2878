import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { BUILD } from '../platform/build';
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
import { docsCommand, openapiCommand } from './documents';
import { forTerminal } from './output';
import { findingsCommands } from './reconcile/findings';
import { reconcileCommand } from './reconcile/reconcile';
import { sandboxCommand } from './sandbox';

/**
 * Every command of `npm run cli`. Their files load only what options and help need. The action imports the
 * rest, so a command loads no more than its own work needs.
 */
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
    .addCommand(databaseCommands())
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
    const text = error instanceof ClientError ? error.message : await describe(running, error);
    process.stderr.write(`${forTerminal(text)}\n`);
    process.exitCode = 1;
  }
}

/** Describes another failure than a refused command. */
async function describe(command: string, error: unknown): Promise<string> {
  const { failureOf } = await import('./failure.js');
  return failureOf(command, error);
}

/** Returns the words of a command, such as `database backup`. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}
