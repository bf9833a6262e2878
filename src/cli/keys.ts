import { Command } from 'commander';
import { changedByOperator } from './changed-by';
import { withClients } from './database';
import { askedExpiry, chosenExpiry, EXPIRES_OPTION } from './expires';
import { askClients, governed, GOVERNED_HELP, GovernedOptions, makeChange } from './governed';
import { print } from './output';

interface IssueOptions extends GovernedOptions {
  client: string;
  expires?: string;
  person?: string;
}

export function keysCommands(): Command {
  const keys = new Command('keys').description("issue, list, and revoke clients' API keys");
  governed(keys.command('issue'))
    .description('issue another key for a client and show it once')
    .requiredOption('--client <name>', 'client that gets the key')
    .option(...EXPIRES_OPTION)
    .option('--person <name>', 'ID of the person who owns the key, who cannot approve their own requests')
    .option(
      '--json',
      'print JSON: {"id","name","key"}, or {"status","change_id","expires_at","key"} if the change waits',
    )
    .addHelpText(
      'after',
      `
To rotate a key: issue a new one, let the app use it, then revoke the old one.
${GOVERNED_HELP}

Examples:
  npm run cli -- keys issue --client shop --expires 2027-01-01T00:00:00Z
  npm run cli -- keys issue --client desk --person ada`,
    )
    .action(issue);
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

async function issue(options: IssueOptions): Promise<void> {
  const { client, expires, person, reason, json } = options;
  await makeChange(options, {
    onDatabase: async ({ clients }, by) => {
      const expiresAt = chosenExpiry(expires);
      const issued = await clients.issueKey(client, { expiresAt, person }, by);
      print(json ? issued : { ...issued, expires_at: expiresAt }, json);
    },
    throughProxy: async () => {
      const body = { person, expires_at: askedExpiry(expires), reason };
      const path = `/v1/clients/${encodeURIComponent(client)}/keys`;
      const answer = await askClients(options, { path, body });
      const { id, key } = answer as { id?: string; key?: string };
      print('change_id' in answer ? answer : { id, name: client, key }, json);
    },
  });
}
