import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { changedByOperator } from './changed-by';
import { withClients } from './database';
import { print } from './output';
import { clock } from '../platform/database/clock';

interface IssueOptions {
  client: string;
  expires?: string;
  person?: string;
  reason?: string;
  json?: boolean;
}

export function keysCommands(): Command {
  const keys = new Command('keys').description("issue, list, and revoke clients' API keys");
  keys
    .command('issue')
    .description('issue another key for a client and show it once')
    .requiredOption('--client <name>', 'whose')
    .option('--expires <instant>', 'expiry in ISO 8601, such as 2027-01-01T00:00:00Z (default: never)')
    .option('--person <name>', 'ID of the person who owns the key, who cannot approve their own requests')
    .option('--reason <text>', 'reason, which is recorded')
    .option('--json', 'print JSON: {"id","name","key"}')
    .addHelpText(
      'after',
      `
To rotate a key: issue a new one, let the app use it, then revoke the old one.

Examples:
  npm run cli -- keys issue --client shop --expires 2027-01-01T00:00:00Z
  npm run cli -- keys issue --client desk --person ada`,
    )
    .action(({ client, expires, person, reason, json }: IssueOptions) => {
      const by = changedByOperator(reason);
      return withClients(async (service) => {
        const options = { expiresAt: toFuture(expires), person };
        print(await service.issueKey(client, options, by), json);
      });
    });
  keys
    .command('list')
    .description('list keys with their IDs and last characters')
    .option('--client <name>', 'client whose keys to list (default: all clients)')
    .option('--json', 'for machines')
    .action(({ client, json }: { client?: string; json?: boolean }) =>
      withClients(async (service) => print(await service.listKeys(client), json)),
    );
  keys
    .command('revoke')
    .description('revoke a key, so that requests with it are rejected')
    .argument('<id>', 'ID of the key, from keys list')
    .option('--reason <text>', 'reason, which is recorded')
    .option('--json', 'for machines')
    .action((id: string, { reason, json }: { reason?: string; json?: boolean }) =>
      withClients(async (service) => print(await service.revokeKey(id, undefined, changedByOperator(reason)), json)),
    );
  return keys;
}

/** By the database's clock, which decides when a key expires. */
function toFuture(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime()) || instant <= clock.now()) {
    throw new ClientError('--expires must be a future time in ISO 8601, such as 2027-01-01T00:00:00Z.');
  }
  return instant;
}
