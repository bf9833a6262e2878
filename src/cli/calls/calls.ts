import { Command } from 'commander';
import { PayoutRecord, VERDICTS_BY_HAND } from '../../history/own-calls/own-calls.dto';
import { FullCallRecord } from '../../history/records/record.dto';
import { ask, askingProxy, keyHelp, ProxyOptions } from '../asking-proxy';
import { print } from '../output';

interface Options extends ProxyOptions {
  outcome: string;
  reason: string;
  payout: string[];
  supersedes?: string;
}

const HELP = `
Look up the call with the provider first. You cannot settle your own calls. confirmed: the upstream
carried it out, and the amount counts. All other outcomes give the amount back: not_executed: nobody
was paid, and nobody ever will be.  failed: the upstream accepted it, but nobody was paid. reversed:
it was paid and taken back.  refunded: it was paid and paid back.
${keyHelp('approver')}

Examples:
  npm run cli -- calls settle 0193… --outcome not_executed --reason "the provider has no such payout"
  npm run cli -- calls settle 0193… --outcome confirmed --supersedes 0193… --reason "it is in the March statement"
  npm run cli -- calls settle 0193… --outcome failed --payout 0193….0 --payout 0193….2 --reason "the telco rejected both"`;

export function callsCommands(): Command {
  const calls = new Command('calls').description('settle payouts by hand').addHelpText('after', HELP);
  askingProxy(calls.command('settle'), 'approve')
    .description('settle the payouts in doubt of a call, or correct its records')
    .argument('<call id>', 'ID of the call, from X-Call-Id of its response')
    .requiredOption('--outcome <word>', `outcome of the payouts: ${VERDICTS_BY_HAND.join(', ')}`)
    .requiredOption('--reason <text>', 'evidence, which is recorded')
    .option('--payout <id>', 'payout to settle, by its payout_id (default: all in doubt)', addPayout, [])
    .option('--supersedes <id>', 'newest settlement of the call, or the call without one, to correct it')
    .option('--json', 'print the response of the proxy as JSON')
    .action(settle);
  return calls;
}

function addPayout(id: string, before: string[]): string[] {
  return [...before, id];
}

async function settle(
  id: string,
  { outcome, reason, payout, supersedes, ...options }: Options,
): Promise<void> {
  const call = (await ask(options, {
    path: `/v1/calls/${encodeURIComponent(id)}/resolution`,
    demoKey: 'approver',
    // it may have been settled
    afterFailure: 'The call may have been settled. Read it again before you continue.',
    body: { outcome, reason, supersedes, ...(payout.length > 0 && { payouts: payout }) },
  })) as FullCallRecord;
  print(options.json ? call : forPeople(call), options.json);
}

function forPeople({
  id,
  operation,
  outcome,
  total_usd,
  items,
  settlements: [newest, before],
}: FullCallRecord) {
  const states = items.map(({ state }) => state ?? '-');
  return {
    id,
    operation,
    total_usd,
    outcome,
    payouts: states,
    settlement: newest?.id,
    supersedes: before?.id,
  };
}

const SHOW_HELP = `
The key must belong to the client of the payout.
${keyHelp('app')}

Example:
  npm run cli -- payouts show 0193….0`;

export function payoutsCommands(): Command {
  const payouts = new Command('payouts').description('show payouts').addHelpText('after', SHOW_HELP);
  askingProxy(payouts.command('show'), 'pay, write or read')
    .description('show the state of a payout, and its ledger')
    .argument('<id>', "payout_id, ID of a call with one payout, or the upstream's reference")
    .option('--json', 'print the response of the proxy as JSON')
    .action(show);
  return payouts;
}

async function show(id: string, { json, ...proxy }: ProxyOptions): Promise<void> {
  const payout = (await ask(proxy, {
    path: `/v1/payouts/${encodeURIComponent(id)}`,
    demoKey: 'app',
    afterFailure: 'Ask again.',
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
