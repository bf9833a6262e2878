import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { newSigningKey } from '../history/log/note';

const HELP = `
It is printed once and kept nowhere; whoever has it can sign in the log's name. Give it to all instances.

Example:
  LOG_SIGNING_KEY=$(npm run -s cli -- audit new-key payouts.example.com)`;

export function auditNewKeyCommand(): Command {
  return new Command('new-key')
    .description('make a key that signs the log, for LOG_SIGNING_KEY')
    .argument('[name]', 'of the log, unique in the world: best below a domain of yours', 'payout-proxy')
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
