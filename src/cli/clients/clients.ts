import { Command } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import { LIMIT_KEYS } from '../../access/clients/limits/limits';
import { lacksDailyCap, mayMoveValue } from '../../access/clients/limits/safe-defaults';
import { CLIENT_KINDS, ClientKind, ListedClient } from '../../access/clients/listed';
import { SCOPES } from '../../operations/catalogue/scopes';
import { words } from '../../platform/config/environment/words';
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
import { print } from '../output';
import { callClientApi } from '../proxy-client';
import { beneficiariesCommand } from './beneficiaries';
import {
  chosenLimits,
  LIMITS_HELP,
  limitsInShort,
  withLimitOptions,
  withOffOptions,
  chosenOperations,
  countOf,
  OperationOptions,
  OPERATIONS_HELP,
  chosenProviders,
  PROVIDER_HELP,
  ProviderOptions,
  withProviderOptions,
} from './client-options';
import { personsCommand } from './persons';

interface ClientOptions extends OperationOptions, ProviderOptions, DualControlOptions {
  name: string;
  account?: string;
  kind?: ClientKind;
  scopes?: string;
  person?: string;
  expires?: string;
}

const NO_DAILY_CAP =
  'A client that may pay or redeem needs a daily cap. Give --daily-cap with an amount, such as ' +
  '--daily-cap 10, or --daily-cap none for a client without one.';
const SCOPES_OPTION = ['--scopes <list>', `comma-separated: ${SCOPES.join(', ')}`] as const;

export function clientsCommands(): Command {
  return new Command('clients')
    .description('create, change, and list clients')
    .addCommand(createCommand())
    .addCommand(updateCommand())
    .addCommand(listCommand())
    .addCommand(beneficiariesCommand())
    .addCommand(personsCommand());
}

const CREATE_HELP = `${LIMITS_HELP}

A public client, such as a mobile app, has no secret keys. Its people send access tokens, or sign in on its
pages. A client that may pay or redeem needs --daily-cap. The value none creates it without a cap.
${PROVIDER_HELP}
${OPERATIONS_HELP}
${DUAL_CONTROL_HELP}

Examples:
  npm run cli -- clients create --name shop --scopes pay,read \\
    --daily-cap 10 --monthly-cap 100 --max-item 5 --json
  npm run cli -- clients create --name shop --scopes pay,read --daily-cap none \\
    --countries "Kenya,Nigeria" --rpm 600 --max-items 50
  npm run cli -- clients create --name desk --scopes approve,audit --person ada \\
    --addresses 10.0.0.0/8 --expires never
  npm run cli -- clients create --name till --scopes pay --daily-cap 50 --operations "POST /payouts/airtime"
  npm run cli -- clients create --name kiosk --account kenya --scopes pay,read --daily-cap 50
  npm run cli -- clients create --name site --scopes pay,write,read --daily-cap 50 \\
    --operations documented --origins https://shop.example
  npm run cli -- clients create --name phone --kind public --scopes pay,read \\
    --daily-cap 500 --person-daily-cap 20 \\
    --token-issuer https://id.example.com --token-audience https://payouts.example.com \\
    --token-jwks-uri https://id.example.com/jwks --token-client-id phone-app`;

function createCommand(): Command {
  const command = new Command('create')
    .description('create a client and show its first key once; a public client has no key')
    .requiredOption('--name <name>', 'name: lowercase letters, digits, and dashes')
    .requiredOption(...SCOPES_OPTION)
    .option('--account <name>', 'immutable account at the upstream (default: main)')
    .option('--kind <kind>', `immutable kind: ${CLIENT_KINDS.join(' or ')} (default: server)`)
    .option('--operations <list>', 'operations of the client (default: all)')
    .option('--without-operations <list>', 'operations to remove from --operations')
    .option('--person <name>', 'ID of the owner of the first key, who cannot approve their own requests')
    .option(...EXPIRES_OPTION);
  return withProviderOptions(withLimitOptions(withDualControlOptions(command)))
    .option('--json', NEW_KEY_JSON)
    .addHelpText('after', CREATE_HELP)
    .action(create);
}

async function create(options: ClientOptions): Promise<void> {
  const { account, kind = 'server', name, scopes = '', person, expires, reason, json } = options;
  requireKind(options);
  const permissions = { scopes: words(scopes), operations: chosenOperations(options, null) };
  const limits = { ...chosenLimits(options, LIMIT_KEYS, 'none'), ...chosenProviders(options) };
  if (limits.dailyCapUsd === undefined && mayMoveValue(permissions)) throw new ClientError(NO_DAILY_CAP);
  await makeChange(options, {
    isFirstStep: permissions.scopes.includes('admin') && person !== undefined,
    onDatabase: async ({ clients }, by) => {
      const expiresAt = kind === 'public' ? undefined : chosenExpiry(expires);
      const grants = { account, kind, operations: permissions.operations, ...limits, person, expiresAt };
      const created = await clients.create(name, permissions.scopes, grants, by);
      print(json || kind === 'public' ? created : { ...created, expires_at: expiresAt }, json);
    },
    throughProxy: async () => {
      const { toPermissions } = await import('../../access/clients/grants.js');
      const body = {
        name,
        account,
        kind,
        ...toPermissions({ ...permissions, ...limits }),
        person,
        expires_at: requestedExpiry(expires),
        reason,
      };
      print(newKeyOf(await callClientApi(options, { path: '/v1/clients', body })), json);
    },
  });
}

function requireKind({ kind = 'server', person, expires }: ClientOptions): void {
  if (!CLIENT_KINDS.includes(kind))
    throw new ClientError(`--kind must be one of ${CLIENT_KINDS.join(', ')}.`);
  if (kind === 'public' && (person !== undefined || expires !== undefined)) {
    throw new ClientError('A public client has no secret keys. Leave out --person and --expires.');
  }
}

const UPDATE_HELP = `${LIMITS_HELP}
${PROVIDER_HELP}
${OPERATIONS_HELP}
${DUAL_CONTROL_HELP}

Examples:
  npm run cli -- clients update --name shop --daily-cap 25.50 --approval-over none
  npm run cli -- clients update --name shop --countries none --require-idempotency-key
  npm run cli -- clients update --name shop \\
    --without-operations "POST /wallets/transfer,POST /account/transfer"
  npm run cli -- clients update --name shop --operations all
  npm run cli -- clients update --name phone --token-issuer none
  npm run cli -- clients update --name shop --origins https://app.example \\
    --page-issuer https://id.example.com --page-client-id shop-pages
  npm run cli -- clients update --name shop --scopes read`;

function updateCommand(): Command {
  const command = new Command('update')
    .description('change the permissions and limits of a client from its next request; the others stay')
    .requiredOption('--name <name>', 'name of the client')
    .option(...SCOPES_OPTION)
    .option('--operations <list>', 'operations of the client')
    .option('--without-operations <list>', "operations to remove from --operations or the client's own");
  return withOffOptions(withProviderOptions(withLimitOptions(withDualControlOptions(command))))
    .option('--no-token-dpop', 'also accept tokens that are not bound to a key of the app')
    .option('--json', 'print the client as JSON, with the names of its operations (null: all)')
    .addHelpText('after', UPDATE_HELP)
    .action(update);
}

async function update(options: ClientOptions): Promise<void> {
  const { name, scopes, reason, json } = options;
  const changesOperations = options.operations !== undefined || options.withoutOperations !== undefined;
  const limits = { ...chosenLimits(options, LIMIT_KEYS, 'none'), ...chosenProviders(options) };
  if (scopes === undefined && !changesOperations && Object.keys(limits).length === 0) {
    throw new ClientError(
      'Give at least one change: --scopes, --operations, --without-operations, a limit, or a provider.',
    );
  }
  const changeOf = (client: Pick<ListedClient, 'operations' | 'scopes' | 'daily_cap_usd'>) => {
    const change = {
      ...limits,
      ...(scopes !== undefined && { scopes: words(scopes) }),
      ...(changesOperations && { operations: chosenOperations(options, client.operations) }),
    };
    if (lacksDailyCap(client, change)) throw new ClientError(NO_DAILY_CAP);
    return change;
  };
  await makeChange(options, {
    onDatabase: async ({ clients }, by) => {
      const updated = await clients.update(name, changeOf(await clients.find(name)), by);
      print(json ? updated : forPeople(updated), json);
    },
    throughProxy: async () => {
      const path = `/v1/clients/${encodeURIComponent(name)}`;
      const client = (await callClientApi(options, { path })) as ListedClient;
      const { toPermissions } = await import('../../access/clients/grants.js');
      const body = { ...toPermissions(changeOf(client)), reason };
      const answer = await callClientApi(options, { path, method: 'PATCH', body });
      print(json || 'change_id' in answer ? answer : forPeople(answer as ListedClient), json);
    },
  });
}

function listCommand(): Command {
  return new Command('list')
    .description('list clients')
    .option('--json', 'print JSON with the limits and operations of each client (null: all)')
    .action(list);
}

async function list({ json }: { json?: boolean }): Promise<void> {
  const { withServices } = await import('../database/services.js');
  await withServices(async ({ clients }) => {
    const listed = await clients.list();
    print(json ? listed : listed.map(forPeople), json);
  });
}

/** Returns a new client and its key for people, or the pending change. Public clients have no key. */
function newKeyOf(answer: object): object {
  const { id, name, key } = answer as { id?: string; name?: string; key?: string };
  return 'change_id' in answer ? answer : { id, name, ...(key !== undefined && { key }) };
}

/** Shortens the operations and limits of a client for a table. */
function forPeople(client: ListedClient) {
  const { id, name, kind, scopes, operations, created_at, active_keys } = client;
  return {
    id,
    name,
    kind,
    scopes,
    operations: countOf(operations),
    limits: limitsInShort(client),
    created_at,
    active_keys,
  };
}
