import { Command } from 'commander';
import type { ClaimedKeyDto } from '../../admin/clients/client-answers.dto';
import { ask, readText } from '../asking-proxy';
import { changedByOperator, withClients } from '../database/database';
import {
  askedExpiry,
  chosenExpiry,
  EXPIRES_OPTION,
  askClients,
  governed,
  GOVERNED_HELP,
  GovernedOptions,
  makeChange,
} from '../governed';
import { print } from '../output';

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
      'print JSON: {"id","name","key"}, or {"status","change_id","expires_at"} if the change waits, ' +
        'with "key" for a key of no person',
    )
    .addHelpText(
      'after',
      `
To rotate a key: issue a new one, let the app use it, then revoke the old one.
With dual control, a key with --person has no secret until that person claims it: keys claim.
${GOVERNED_HELP}

Examples:
  npm run cli -- keys issue --client shop --expires 2027-01-01T00:00:00Z
  npm run cli -- keys issue --client desk --person ada`,
    )
    .action(issue);
  keys
    .command('claim')
    .description('claim your key with the claim code that its approver was shown, and show it once')
    .requiredOption('--code-file <file>', 'file that contains only the claim code')
    .option('--url <url>', 'URL of the proxy (default: PORT on this machine)')
    .option('--json', 'print JSON: {"id","client","key","person",…}')
    .addHelpText('after', CLAIM_HELP)
    .action(claim);
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
      withClients(async (service) =>
        print(await service.revokeKey(id, undefined, changedByOperator(reason)), json),
      ),
    );
  return keys;
}

const CLAIM_HELP = `
The key never decides about what its requester, or the approver who had the code, requests. If you
sign in to the console at the OpenID provider, claim it there instead: the page Keys of its client.
Then only its requester is excluded.

Examples:
  npm run cli -- keys claim --code-file claim-code.txt`;

async function claim({
  url,
  codeFile,
  json,
}: {
  url?: string;
  codeFile: string;
  json?: boolean;
}): Promise<void> {
  const afterFailure =
    'The key may have been claimed. If so, ask an administrator to revoke it and to request another.';
  const body = { code: readText(codeFile, `The file ${codeFile} cannot be read.`).trim() };
  const claimed = (await ask(
    { ...(url !== undefined && { url }) },
    { path: '/v1/key-claims', body, afterFailure },
  )) as ClaimedKeyDto;
  const { id, client, key, person, expires_at } = claimed;
  print(json ? claimed : { id, name: client, key, person, expires_at }, json);
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
