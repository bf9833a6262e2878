import { Command } from 'commander';
import { ClientError, ListedClient } from '../clients/clients.service';
import { SCOPES } from '../clients/scopes';
import { words } from '../config/words';
import { withClients } from './database';
import { chosenOperations, countOf, OperationOptions, OPERATIONS_HELP } from './operations';
import { print } from './output';

interface ClientOptions extends OperationOptions {
  name: string;
  scopes?: string;
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
  return new Command('create')
    .description('make a client and show its first key, this once')
    .requiredOption('--name <name>', 'lower-case letters, digits and dashes')
    .requiredOption(...SCOPES_OPTION)
    .option('--operations <list>', 'what of the interface it may use; without it, all')
    .option('--without-operations <list>', 'the same, less these')
    .option('--json', 'for machines: {"id","name","key"}')
    .addHelpText(
      'after',
      `${OPERATIONS_HELP}

Examples:
  npm run cli -- clients create --name shop --scopes pay,read --json
  npm run cli -- clients create --name till --scopes pay --operations "POST /payouts/airtime"
  npm run cli -- clients create --name site --scopes pay,write,read --operations documented`,
    )
    .action(({ name, scopes = '', json, ...options }: ClientOptions) => {
      const operations = chosenOperations(options, null);
      return withClients(async (service) => print(await service.create(name, words(scopes), operations), json));
    });
}

function updateCommand(): Command {
  return new Command('update')
    .description('change what a client may do, from its next request on; what is not named stays')
    .requiredOption('--name <name>', 'whose')
    .option(...SCOPES_OPTION)
    .option('--operations <list>', 'what of the interface it may use')
    .option('--without-operations <list>', 'what it may use now, or the --operations, less these')
    .option('--json', 'for machines: the client, with the names of its operations (null: all)')
    .addHelpText(
      'after',
      `${OPERATIONS_HELP}

Examples:
  npm run cli -- clients update --name shop --without-operations "POST /wallets/transfer,POST /account/transfer"
  npm run cli -- clients update --name shop --operations all
  npm run cli -- clients update --name shop --scopes read`,
    )
    .action(update);
}

async function update({ name, scopes, json, ...options }: ClientOptions): Promise<void> {
  const changesOperations = options.operations !== undefined || options.withoutOperations !== undefined;
  if (scopes === undefined && !changesOperations) {
    throw new ClientError('say what to change: --scopes, --operations or --without-operations');
  }
  await withClients(async (service) => {
    const { operations } = await service.find(name);
    const updated = await service.update(name, {
      ...(scopes !== undefined && { scopes: words(scopes) }),
      ...(changesOperations && { operations: chosenOperations(options, operations) }),
    });
    print(json ? updated : forPeople(updated), json);
  });
}

function listCommand(): Command {
  return new Command('list')
    .description('list the clients')
    .option('--json', 'for machines: with the names of the operations that each may use (null: all)')
    .action(({ json }: { json?: boolean }) =>
      withClients(async (service) => {
        const clients = await service.list();
        print(json ? clients : clients.map(forPeople), json);
      }),
    );
}

/** The names of two dozen operations fit in no table. */
function forPeople(client: ListedClient) {
  return { ...client, operations: countOf(client.operations) };
}
