import { Command } from 'commander';
import type { ClaimedKeyDto } from '../../admin/clients/client-answers.dto';
import {
  chosenExpiry,
  DUAL_CONTROL_HELP,
  DualControlOptions,
  EXPIRES_OPTION,
  makeChange,
  NEW_KEY_JSON,
  requestedExpiry,
  withDualControlOptions,
} from '../dual-control';
import { changedByOperator } from '../operator';
import { print } from '../output';
import { callClientApi, callProxy, readText } from '../proxy-client';

interface IssueOptions extends DualControlOptions {
  client: string;
  expires?: string;
  person?: string;
}

const ISSUE_HELP = `
To rotate a key: issue a new one, let the app use it, then revoke the old one.
With dual control, a key with --person has no secret until that person claims it: keys claim.
${DUAL_CONTROL_HELP}

Examples:
  npm run cli -- keys issue --client shop --expires 2027-01-01T00:00:00Z
  npm run cli -- keys issue --client desk --person ada`;

const CLAIM_HELP = `
The key cannot decide about requests of its own requester, or of the approver who had the code. If you sign
in to the console at the OpenID provider, claim it there instead: the page Keys of its client. Then only its
requester is excluded.

Examples:
  npm run cli -- keys claim --code-file claim-code.txt`;

export function keysCommands(): Command {
  const keys = new Command('keys').description("issue, list, and revoke clients' API keys");
  withDualControlOptions(keys.command('issue'))
    .description('issue another key for a client and show it once')
    .requiredOption('--client <name>', 'client of the key')
    .option(...EXPIRES_OPTION)
    .option('--person <name>', 'ID of the owner of the key, who cannot approve their own requests')
    .option('--json', NEW_KEY_JSON)
    .addHelpText('after', ISSUE_HELP)
    .action(issue);
  keys
    .command('claim')
    .description('claim your key with the claim code from its approver, and show it once')
    .requiredOption('--code-file <file>', 'file that contains only the claim code')
    .option('--url <url>', 'URL of the proxy (default: PORT on this machine)')
    .option('--json', 'print JSON: {"id","client","key","person",…}')
    .addHelpText('after', CLAIM_HELP)
    .action(claim);
  keys
    .command('list')
    .description('list keys with their IDs and last characters')
    .option('--client <name>', 'client whose keys to list (default: all clients)')
    .option('--json', 'print JSON')
    .action(list);
  keys
    .command('revoke')
    .description('revoke a key, so that requests with it are rejected')
    .argument('<id>', 'ID of the key, from keys list')
    .option('--reason <text>', 'reason for the record')
    .option('--json', 'print JSON')
    .action(revoke);
  return keys;
}

async function list({ client, json }: { client?: string; json?: boolean }): Promise<void> {
  const { withServices } = await import('../database/services.js');
  await withServices(async ({ clients }) => print(await clients.listKeys(client), json));
}

async function revoke(id: string, { reason, json }: { reason?: string; json?: boolean }): Promise<void> {
  const { withServices } = await import('../database/services.js');
  await withServices(async ({ clients }) =>
    print(await clients.revokeKey(id, undefined, changedByOperator(reason)), json),
  );
}

interface ClaimOptions {
  url?: string;
  codeFile: string;
  json?: boolean;
}

async function claim({ codeFile, json, ...proxy }: ClaimOptions): Promise<void> {
  const afterFailure =
    'The key may have been claimed. If so, ask an administrator to revoke it and to request another.';
  const body = { code: readText(codeFile, `The file ${codeFile} cannot be read.`).trim() };
  const claimed = (await callProxy(proxy, { path: '/v1/key-claims', body, afterFailure })) as ClaimedKeyDto;
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
      const body = { person, expires_at: requestedExpiry(expires), reason };
      const path = `/v1/clients/${encodeURIComponent(client)}/keys`;
      const answer = await callClientApi(options, { path, body });
      const { id, key } = answer as { id?: string; key?: string };
      print('change_id' in answer ? answer : { id, name: client, key }, json);
    },
  });
}
