import { Command, Option } from 'commander';
import type { WaitingDto } from '../../access/dual-control/pending-response';
import type { PayoutRecord } from '../../history/own-calls/own-calls.dto';
import { VERDICTS_BY_HAND } from '../../history/own-calls/verdicts';
import type { FullCallRecord } from '../../history/records/record.dto';
import { print } from '../output';
import { callProxy, withProxyOptions, keyHelp, ProxyOptions } from '../proxy-client';
import { addAttributionCommands } from './attributions';

interface Options extends ProxyOptions {
  outcome: string;
  reason: string;
  payout: string[];
  supersedes?: string;
}

const HELP = `
Look up the call with the provider first. You cannot settle your own calls. Outcomes:
  confirmed      the upstream paid it; only this outcome counts the amount
  not_executed   it was not paid, and never will be
  failed         the upstream accepted it, but did not pay it
  reversed       it was paid and taken back
  refunded       it was paid and paid back

With dual control (DUAL_CONTROL), a settlement that gives an amount or a key back waits for a second person.
The answer then has a change_id: changes approve.
${keyHelp('approver')}

Examples:
  npm run cli -- calls settle 0193… --outcome not_executed --reason "the provider has no such payout"
  npm run cli -- calls settle 0193… --outcome confirmed --supersedes 0193… --reason "in the March statement"
  npm run cli -- calls settle 0193… --outcome failed --payout 0193….0 --payout 0193….2 --reason "case 17"`;

const PAYOUT = new Option('--payout <id>', 'payout_id to settle; can be repeated')
  .default([], 'all in doubt')
  .argParser((id: string, before: string[]) => [...before, id]);

export function callsCommands(): Command {
  const calls = new Command('calls')
    .description('settle payouts, and attribute transactions by hand')
    .addHelpText('after', HELP);
  withProxyOptions(calls.command('settle'), 'approve')
    .description('settle the payouts in doubt of a call, or correct its records')
    .argument('<call id>', 'ID of the call, from X-Call-Id of its response')
    .requiredOption('--outcome <word>', `outcome of the payouts: ${VERDICTS_BY_HAND.join(', ')}`)
    .requiredOption('--reason <text>', 'evidence for the record')
    .addOption(PAYOUT)
    .option('--supersedes <id>', 'ID of the newest settlement to correct, or of the call if it has none')
    .option('--json', 'print JSON: the call, or {"status","change_id","expires_at"} if it waits')
    .action(settle);
  addAttributionCommands(calls);
  return calls;
}

async function settle(id: string, options: Options): Promise<void> {
  const { outcome, reason, payout, supersedes } = options;
  const call = (await callProxy(options, {
    path: `/v1/calls/${encodeURIComponent(id)}/resolution`,
    demoKey: 'approver',
    afterFailure: 'The call may have been settled. Read it again before you continue.',
    body: { outcome, reason, supersedes, ...(payout.length > 0 && { payouts: payout }) },
  })) as FullCallRecord | WaitingDto;
  print(options.json || 'change_id' in call ? call : forPeople(call), options.json);
}

function forPeople({ id, operation, outcome, total_usd, items, settlements }: FullCallRecord) {
  const payouts = items.map(({ state }) => state ?? '-');
  const [newest, before] = settlements;
  return { id, operation, total_usd, outcome, payouts, settlement: newest?.id, supersedes: before?.id };
}

const SHOW_HELP = `
The key must belong to the client of the payout.
${keyHelp('app')}

Example:
  npm run cli -- payouts show 0193….0`;

export function payoutsCommands(): Command {
  const payouts = new Command('payouts').description('show payouts').addHelpText('after', SHOW_HELP);
  withProxyOptions(payouts.command('show'), 'pay, write or read')
    .description('show the state of a payout, and its ledger')
    .argument('<id>', "payout_id, ID of a call with one payout, or the upstream's reference")
    .option('--json', 'print the response of the proxy as JSON')
    .action(show);
  return payouts;
}

async function show(id: string, { json, ...proxy }: ProxyOptions): Promise<void> {
  const payout = (await callProxy(proxy, {
    path: `/v1/payouts/${encodeURIComponent(id)}`,
    demoKey: 'app',
    afterFailure: 'Run the command again.',
  })) as PayoutRecord;
  if (json) return print(payout, json);
  const { state, next, amount_usd, fee_usd, operation, reason } = payout;
  print({ id: payout.id, operation, state, next, amount_usd, fee_usd, reason }, false);
  process.stdout.write('\n');
  print(payout.ledger.map(entryForPeople), false);
}

function entryForPeople({ at, entry, amount_usd, from, to, source, status }: PayoutRecord['ledger'][number]) {
  return { at, entry, amount_usd, from, to, source, status };
}
