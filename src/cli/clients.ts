import { Command } from 'commander';
import { SCOPES } from '../clients/scopes';
import { withClients } from './database';
import { print } from './output';

export function clientsCommands(): Command {
  const clients = new Command('clients').description('client apps and what they may do');
  clients
    .command('create')
    .description('make a client and show its first key, this once')
    .requiredOption('--name <name>', 'lower-case letters, digits and dashes')
    .requiredOption('--scopes <list>', `comma-separated: ${SCOPES.join(', ')}`)
    .option('--json', 'for machines: {"id","name","key"}')
    .addHelpText('after', '\nExample:\n  npm run cli -- clients create --name shop --scopes pay,read --json')
    .action(({ name, scopes, json }: { name: string; scopes: string; json?: boolean }) =>
      withClients(async (service) => print(await service.create(name, words(scopes)), json)),
    );
  clients
    .command('list')
    .description('list the clients')
    .option('--json', 'for machines')
    .action(({ json }: { json?: boolean }) => withClients(async (service) => print(await service.list(), json)));
  return clients;
}

function words(list: string): string[] {
  return list.split(',').flatMap((word) => word.trim() || []);
}
