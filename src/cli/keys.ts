import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { changedByOperator } from './changed-by';
import { withClients } from './database';
import { print } from './output';

interface IssueOptions {
  client: string;
  expires?: string;
  person?: string;
  reason?: string;
  json?: boolean;
}

export function keysCommands(): Command {
  const keys = new Command('keys').description("clients' API keys");
  keys
    .command('issue')
    .description('issue one more key for a client and show it, this once')
    .requiredOption('--client <name>', 'whose')
    .option('--expires <instant>', 'ISO 8601, such as 2027-01-01T00:00:00Z; without it, never')
    .option(
      '--person <name>',
      "whose key it is, where it is one person's: nobody approves what they asked for themselves",
    )
    .option('--reason <text>', 'why, for the record')
    .option('--json', 'for machines: {"id","name","key"}')
    .addHelpText(
      'after',
      `
To rotate a key: issue a new one, let the app use it, then revoke the old one.

Examples:
  npm run cli -- keys issue --client shop --expires 2027-01-01T00:00:00Z
  npm run cli -- keys issue --client desk --person ada`,
    )
    .action(({ client, expires, person, reason, json }: IssueOptions) => {
      const options = { expiresAt: toInstant(expires), person };
      const by = changedByOperator(reason);
      return withClients(async (service) => print(await service.issueKey(client, options, by), json));
    });
  keys
    .command('list')
    .description('list keys by their ids and last characters')
    .option('--client <name>', 'only of this client')
    .option('--json', 'for machines')
    .action(({ client, json }: { client?: string; json?: boolean }) =>
      withClients(async (service) => print(await service.listKeys(client), json)),
    );
  keys
    .command('revoke')
    .description('revoke a key; from then on no request with it is taken')
    .argument('<id>', 'its id, from keys list')
    .option('--reason <text>', 'why, for the record')
    .option('--json', 'for machines')
    .action((id: string, { reason, json }: { reason?: string; json?: boolean }) =>
      withClients(async (service) => print(await service.revokeKey(id, undefined, changedByOperator(reason)), json)),
    );
  return keys;
}

function toInstant(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime()) || instant <= new Date()) {
    throw new ClientError('--expires must be an instant to come, in ISO 8601, such as 2027-01-01T00:00:00Z');
  }
  return instant;
}
