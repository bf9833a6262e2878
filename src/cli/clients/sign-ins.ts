import { Command } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import { loadConfigOf } from '../../platform/config/config';
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

interface AllowOptions extends GovernedOptions {
  client: string;
  person: string;
  subject: string;
  expires?: string;
}

export function signInsCommands(): Command {
  const signIns = new Command('sign-ins').description('let people sign in at the OpenID provider');
  governed(signIns.command('allow'))
    .description('let a person sign in as a client')
    .requiredOption('--client <name>', 'client whose scopes the person has')
    .requiredOption('--person <name>', 'ID of the person in records')
    .requiredOption(
      '--subject <sub>',
      'the claim sub of the person, which the page of a refused sign-in shows',
    )
    .option(...EXPIRES_OPTION)
    .option('--json', 'print JSON: {"id"}, or {"status","change_id","expires_at"} if the change waits')
    .addHelpText(
      'after',
      `
The person signs in at the provider of OIDC_ISSUER, and has no key that could be stolen. keys list
shows who may sign in. To end it, revoke the key of the person: keys revoke <id>.
${GOVERNED_HELP}

Examples:
  npm run cli -- sign-ins allow --client desk --person ada --subject 00u1a2b3c4`,
    )
    .action(allow);
  return signIns;
}

async function allow(options: AllowOptions): Promise<void> {
  const { client, person, subject, expires, reason, json } = options;
  await makeChange(options, {
    onDatabase: async ({ clients }, by) => {
      const expiresAt = chosenExpiry(expires);
      print(
        await clients.allowSignIn(client, { issuer: configuredIssuer(), subject, person, expiresAt }, by),
        json,
      );
    },
    throughProxy: async () => {
      const body = { person, subject, expires_at: askedExpiry(expires), reason };
      const path = `/v1/clients/${encodeURIComponent(client)}/sign-ins`;
      const answer = await askClients(options, { path, body });
      print('change_id' in answer ? answer : { id: (answer as { id?: string }).id }, json);
    },
  });
}

/** @throws ClientError */
function configuredIssuer(): string {
  const issuer = loadConfigOf('database').openIdProvider?.issuer;
  if (issuer !== undefined) return issuer;
  throw new ClientError(
    'nobody can sign in, because no OpenID provider is configured. Set OIDC_ISSUER and OIDC_CLIENT_ID.',
  );
}
