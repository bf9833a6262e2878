import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { ListedClient } from '../access/clients/listed';
import { SCOPES } from '../operations/scopes';
import { words } from '../platform/config/words';
import { changedByOperator } from './changed-by';
import { withClients } from './database';
import { chosenLimits, LimitOptions, LIMITS_HELP, limitsInShort, withLimitOptions } from './limits';
import { chosenOperations, countOf, OperationOptions, OPERATIONS_HELP } from './operations';
import { print } from './output';

interface ClientOptions extends OperationOptions, LimitOptions {
  name: string;
  scopes?: string;
  person?: string;
  reason?: string;
  json?: boolean;
}

const SCOPES_OPTION = ['--scopes <list>', `comma-separated: ${SCOPES.join(', ')}`] as const;

export function clientsCommands(): Command {
  return new Command('clients')
    .description('client apps and what they may do')
    .addCommand(createCommand())
    .addCommand(updateCommand())
    .addCommand(listCommand());
}

function createCommand(): Command {
  const command = new Command('create')
    .description('make a client and show its first key, this once')
    .requiredOption('--name <name>', 'lower-case letters, digits and dashes')
    .requiredOption(...SCOPES_OPTION)
    .option('--operations <list>', 'what of the interface it may use; without it, all')
    .option('--without-operations <list>', 'the same, less these')
    .option('--person <name>', 'whose its first key is: nobody approves what they asked for themselves')
    .option('--reason <text>', 'why, for the record');
  return withLimitOptions(command)
    .option('--json', 'for machines: {"id","name","key"}')
    .addHelpText(
      'after',
      `${LIMITS_HELP}
${OPERATIONS_HELP}

Examples:
  npm run cli -- clients create --name shop --scopes pay,read --daily-cap 10 --monthly-cap 100 --max-item 5 --json
  npm run cli -- clients create --name shop --scopes pay,read --countries "Kenya,Nigeria" --rpm 600 --max-items 50
  npm run cli -- clients create --name desk --scopes approve,audit --person ada --addresses 10.0.0.0/8
  npm run cli -- clients create --name till --scopes pay --operations "POST /payouts/airtime"
  npm run cli -- clients create --name site --scopes pay,write,read --operations documented --origins https://shop.example`,
    )
    .action(({ name, scopes = '', person, reason, json, ...options }: ClientOptions) => {
      const by = changedByOperator(reason);
      const grants = { operations: chosenOperations(options, null), ...chosenLimits(options), person };
      return withClients(async (service) => print(await service.create(name, words(scopes), grants, by), json));
    });
}

function updateCommand(): Command {
  const command = new Command('update')
    .description('change what a client may do, from its next request on; what is not named stays')
    .requiredOption('--name <name>', 'whose')
    .option(...SCOPES_OPTION)
    .option('--operations <list>', 'what of the interface it may use')
    .option('--without-operations <list>', 'what it may use now, or the --operations, less these')
    .option('--reason <text>', 'why, for the record');
  return withLimitOptions(command)
    .option('--no-require-idempotency-key', 'let it pay and write without the header')
    .option('--json', 'for machines: the client, with the names of its operations (null: all)')
    .addHelpText(
      'after',
      `${LIMITS_HELP}
${OPERATIONS_HELP}

Examples:
  npm run cli -- clients update --name shop --daily-cap 25.50 --approval-over none
  npm run cli -- clients update --name shop --countries none --require-idempotency-key
  npm run cli -- clients update --name shop --without-operations "POST /wallets/transfer,POST /account/transfer"
  npm run cli -- clients update --name shop --operations all
  npm run cli -- clients update --name shop --scopes read`,
    )
    .action(update);
}

async function update({ name, scopes, reason, json, ...options }: ClientOptions): Promise<void> {
  const changesOperations = options.operations !== undefined || options.withoutOperations !== undefined;
  const limits = chosenLimits(options);
  if (scopes === undefined && !changesOperations && Object.keys(limits).length === 0) {
    throw new ClientError('say what to change: --scopes, --operations, --without-operations or a limit (see --help)');
  }
  await withClients(async (service) => {
    const { operations } = await service.find(name);
    const change = {
      ...limits,
      ...(scopes !== undefined && { scopes: words(scopes) }),
      ...(changesOperations && { operations: chosenOperations(options, operations) }),
    };
    const updated = await service.update(name, change, changedByOperator(reason));
    print(json ? updated : forPeople(updated), json);
  });
}

function listCommand(): Command {
  return new Command('list')
    .description('list the clients')
    .option('--json', 'for machines: all limits, and the names of the operations that each may use (null: all)')
    .action(({ json }: { json?: boolean }) =>
      withClients(async (service) => {
        const clients = await service.list();
        print(json ? clients : clients.map(forPeople), json);
      }),
    );
}

/** The names of two dozen operations fit in no table, nor do a dozen limits. */
function forPeople(client: ListedClient) {
  const { id, name, scopes, operations, created_at, active_keys } = client;
  return { id, name, scopes, operations: countOf(operations), limits: limitsInShort(client), created_at, active_keys };
}
