import { Command } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import type { FeeRecord, Fees, ForgottenFees } from '../../admin/fees/fees.dto';
import { DualControlOptions, makeChange, withDualControlOptions } from '../dual-control';
import { print } from '../output';
import { callClientApi, callProxy, keyHelp, ProxyOptions, withProxyOptions } from '../proxy-client';

const LIST_HELP = `
Calls the running proxy, because each instance has its own configuration.
${keyHelp('admin')}

Examples:
  npm run cli -- fees list
  npm run cli -- fees list --json`;

const FORGET_HELP = `
The fees of an operation without a rule in UPSTREAM_FEES are learned from its calls. Forget them after a
mistake of the provider or a new contract. The proxy learns them anew. Until then, it reserves less.

With dual control (DUAL_CONTROL), this waits for a second person. The command then calls the running proxy
with a personal key of an administrator.
${keyHelp('admin')}
In an emergency, --emergency changes the database without a second person. Its record says so.

Examples:
  npm run cli -- fees forget "POST /payouts/airtime"
  npm run cli -- fees forget "POST /payouts/airtime" --account kenya --key-file ada.key --reason contract`;

interface ForgetOptions extends DualControlOptions {
  account?: string;
}

export function feesCommands(): Command {
  const fees = new Command('fees')
    .description('list the expected fees of the upstream, and forget learned ones')
    .addHelpText('after', LIST_HELP);
  withProxyOptions(fees.command('list'), 'admin')
    .description('list the configured rules, and the learned fees by size of payout')
    .option('--json', 'print the response of the proxy as JSON')
    .addHelpText('after', LIST_HELP)
    .action(list);
  withDualControlOptions(fees.command('forget <operation>'))
    .description('forget the learned fees of an operation, on every instance at once')
    .option('--account <name>', 'upstream account (default: main)')
    .option('--json', 'print JSON: {"forgotten"}, or {"status","change_id","expires_at"} if it waits')
    .addHelpText('after', FORGET_HELP)
    .action(forget);
  return fees;
}

async function list({ json, ...proxy }: ProxyOptions): Promise<void> {
  const listed = (await callProxy(proxy, {
    path: '/v1/fees',
    demoKey: 'admin',
    afterFailure: 'Nothing was changed.',
  })) as Fees;
  print(json ? listed : listed.fees.map(forPeople), json);
}

async function forget(operation: string, options: ForgetOptions): Promise<void> {
  const { MAIN_ACCOUNT } = await import('../../platform/config/upstream/upstream-accounts.js');
  const { account = MAIN_ACCOUNT, json, reason } = options;
  await makeChange(options, {
    onDatabase: async ({ prisma, journal }, by) => {
      const { FeesService } = await import('../../admin/fees/fees.service.js');
      const fees = new FeesService(prisma, journal);
      const forgotten = await fees.forget({ account, operation }, by);
      if (!forgotten)
        throw new ClientError(
          `No fees of ${operation} and the account ${account} were learned. Run fees list.`,
        );
      print(json ? { forgotten } : forgotten.map(forPeople), json);
    },
    throughProxy: async () => {
      const query = new URLSearchParams({ operation, ...(reason !== undefined && { reason }) });
      const path = `/v1/fees/${encodeURIComponent(account)}?${query.toString()}`;
      const answer = await callClientApi(options, { path, method: 'DELETE' });
      const isWaiting = 'change_id' in answer;
      print(json || isWaiting ? answer : (answer as ForgottenFees).forgotten.map(forPeople), json);
    },
  });
}

function forPeople({ from_usd: from, below_usd: below, rule, ...fee }: FeeRecord) {
  const { account, operation, fee_usd, calls, last_charged_on } = fee;
  const size = rule === null ? `${from} to ${below}` : 'all';
  return { account, operation, size, fee: rule ?? fee_usd, calls, last_charged_on };
}
