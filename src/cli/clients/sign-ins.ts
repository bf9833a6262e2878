import { Command } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import {
  requestedExpiry,
  chosenExpiry,
  EXPIRES_OPTION,
  withDualControlOptions,
  DUAL_CONTROL_HELP,
  DualControlOptions,
  makeChange,
} from '../dual-control';
import { print } from '../output';
import { callClientApi } from '../proxy-client';

interface AllowOptions extends DualControlOptions {
  client: string;
  person: string;
  subject: string;
  expires?: string;
}

const HELP = `
The person signs in at the provider of OIDC_ISSUER, and has no key that could be stolen. keys list shows all
sign-ins. To end one, revoke its key: keys revoke <id>.
${DUAL_CONTROL_HELP}

Examples:
  npm run cli -- sign-ins allow --client desk --person ada --subject 00u1a2b3c4`;

export function signInsCommands(): Command {
  const signIns = new Command('sign-ins').description('let people sign in at the OpenID provider');
  withDualControlOptions(signIns.command('allow'))
    .description('let a person sign in as a client')
    .requiredOption('--client <name>', 'client with the scopes of the person')
    .requiredOption('--person <name>', 'ID of the person in records')
    .requiredOption('--subject <sub>', 'claim sub of the person, from the page of a refused sign-in')
    .option(...EXPIRES_OPTION)
    .option('--json', 'print JSON: {"id"}, or {"status","change_id","expires_at"} if the change waits')
    .addHelpText('after', HELP)
    .action(allow);
  return signIns;
}

async function allow(options: AllowOptions): Promise<void> {
  const { client, person, subject, expires, reason, json } = options;
  await makeChange(options, {
    onDatabase: async ({ clients }, by) => {
      const signIn = { issuer: await configuredIssuer(), subject, person, expiresAt: chosenExpiry(expires) };
      print(await clients.allowSignIn(client, signIn, by), json);
    },
    throughProxy: async () => {
      const body = { person, subject, expires_at: requestedExpiry(expires), reason };
      const path = `/v1/clients/${encodeURIComponent(client)}/sign-ins`;
      const answer = await callClientApi(options, { path, body });
      print('change_id' in answer ? answer : { id: (answer as { id?: string }).id }, json);
    },
  });
}

async function configuredIssuer(): Promise<string> {
  const { loadConfigOf } = await import('../../platform/config/config.js');
  const issuer = loadConfigOf('database').openIdProvider?.issuer;
  if (issuer !== undefined) return issuer;
  throw new ClientError(
    'No OpenID provider is configured, so no person can sign in. Set OIDC_ISSUER and OIDC_CLIENT_ID.',
  );
}
