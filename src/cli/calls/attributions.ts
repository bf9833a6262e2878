import { Command, Option } from 'commander';
import type { WaitingDto } from '../../access/dual-control/pending-response';
import type { FullCallRecord } from '../../history/records/record.dto';
import type { BookTransactions } from '../../reconciliation/attributions/attributions.dto';
import { print } from '../output';
import { callProxy, keyHelp, ProxyOptions, withProxyOptions } from '../proxy-client';

const ATTRIBUTE_HELP = `
Attributes a transaction of the upstream to a payout, where no rule does or a rule was wrong. The state of the
payout follows from the transaction. Ask the provider first. You cannot decide about your own calls.

A transaction with another recipient or type is rejected. Another amount is recorded. Name each payout that
loses its transaction with --supersedes: this one, or the one that has the transaction. That one is in doubt
then.

With dual control (DUAL_CONTROL), this waits for a second person. The answer then has a change_id: changes
approve.
${keyHelp('approver')}

Examples:
  npm run cli -- calls transactions ref-17
  npm run cli -- calls attribute 0193….0 --transaction 0193… --reason "the provider names it in case 17"
  npm run cli -- calls attribute 0193….0 --transaction 0193… --supersedes 0193….1 --reason "case 17"`;

const TRANSACTIONS_HELP = `
Shows transactions of the upstream with their payouts, at most 200. Without a name and --call, it lists the
newest ones without a payout.
${keyHelp('approver')}

Examples:
  npm run cli -- calls transactions
  npm run cli -- calls transactions ref-17
  npm run cli -- calls transactions --call 0193…`;

const SUPERSEDES = new Option(
  '--supersedes <payout_id>',
  'payout that loses its transaction; can be repeated',
)
  .default([], 'none')
  .argParser((id: string, before: string[]) => [...before, id]);

interface AttributeOptions extends ProxyOptions {
  transaction: string;
  reason: string;
  supersedes: string[];
}

interface FindOptions extends ProxyOptions {
  account?: string;
  call?: string;
}

/** Adds the commands about transactions of the book to the group `calls`. */
export function addAttributionCommands(calls: Command): void {
  withProxyOptions(calls.command('attribute <payout_id>'), 'approve')
    .description('attribute a transaction of the upstream to a payout')
    .requiredOption('--transaction <id>', 'ID of the transaction in the book, from calls transactions')
    .requiredOption('--reason <text>', 'evidence for the record')
    .addOption(SUPERSEDES)
    .option('--json', 'print JSON: the call, or {"status","change_id","expires_at"} if it waits')
    .addHelpText('after', ATTRIBUTE_HELP)
    .action(attribute);
  withProxyOptions(calls.command('transactions [name]'), 'approve, reconcile or audit')
    .description('find transactions of the upstream with their payouts')
    .option('--account <name>', 'upstream account (default: main)')
    .option('--call <id>', 'ID of a call whose payouts have the transactions')
    .option('--json', 'print the response of the proxy as JSON')
    .addHelpText('after', TRANSACTIONS_HELP)
    .action(findTransactions);
}

async function attribute(payoutId: string, options: AttributeOptions): Promise<void> {
  const { transaction, reason, supersedes, json } = options;
  const call = (await callProxy(options, {
    path: '/v1/reconciliation/attributions',
    demoKey: 'approver',
    afterFailure: 'The transaction may have been attributed. Read the call again before you continue.',
    body: {
      payout_id: payoutId,
      transaction_id: transaction,
      reason,
      ...(supersedes.length > 0 && { supersedes }),
    },
  })) as FullCallRecord | WaitingDto;
  if (json || 'change_id' in call) return print(call, json);
  const { id, operation, outcome, items, settlements } = call;
  const payouts = items.map(({ state }) => state ?? '-');
  print({ id, operation, outcome, payouts, settlement: settlements[0]?.id }, json);
}

async function findTransactions(name: string | undefined, options: FindOptions): Promise<void> {
  const { account, call, json, ...proxy } = options;
  const query = new URLSearchParams({
    ...(name !== undefined && { name }),
    ...(account !== undefined && { account }),
    ...(call !== undefined && { call_id: call }),
  });
  const found = (await callProxy(proxy, {
    path: `/v1/reconciliation/transactions?${query.toString()}`,
    demoKey: 'approver',
    afterFailure: 'Nothing was changed.',
  })) as BookTransactions;
  print(json ? found : found.transactions, json);
}
