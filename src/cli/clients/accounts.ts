import { Command } from 'commander';
import type { AccountDto, AccountsDto } from '../../admin/accounts/accounts.dto';
import { print } from '../output';
import { callProxy, withProxyOptions, keyHelp, ProxyOptions } from '../proxy-client';

const HELP = `
Calls the running proxy, because each instance has its own configuration. The key needs the scope admin,
reconcile, or audit.
${keyHelp('admin')}

Examples:
  npm run cli -- accounts list
  npm run cli -- accounts list --json`;

export function accountsCommands(): Command {
  const accounts = new Command('accounts')
    .description('list the accounts at the upstream')
    .addHelpText('after', HELP);
  withProxyOptions(accounts.command('list'), 'admin')
    .description('list the configured accounts, and those that only clients name')
    .option('--json', 'print the response of the proxy as JSON')
    .action(async ({ json, ...proxy }: ProxyOptions) => {
      const listed = (await callProxy(proxy, {
        path: '/v1/accounts',
        demoKey: 'admin',
        afterFailure: 'Nothing was changed.',
      })) as AccountsDto;
      print(json ? listed : listed.accounts.map(forPeople), json);
    });
  return accounts;
}

/** Puts the most important columns first. */
function forPeople({ name, configured, clients, ...rest }: AccountDto) {
  return { name, configured, clients, ...rest };
}
