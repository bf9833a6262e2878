import { Command } from 'commander';
import { PayoutRecord } from '../history/own-calls/own-calls.dto';
import { ask, askingProxy, keyHelp, ProxyOptions } from './asking-proxy';
import { print } from './output';

const HELP = `
The key must belong to the client of the payout.
${keyHelp('app')}

Example:
  npm run cli -- payouts show 0193….0`;

export function payoutsCommands(): Command {
  const payouts = new Command('payouts').description('show payouts').addHelpText('after', HELP);
  askingProxy(payouts.command('show'), 'pay, write or read')
    .description('show the state of a payout, and its ledger')
    .argument('<id>', "payout_id, ID of a call with one payout, or the upstream's reference")
    .option('--json', 'print the response of the proxy as JSON')
    .action(show);
  return payouts;
}

async function show(id: string, { json, ...proxy }: ProxyOptions & { json?: boolean }): Promise<void> {
  const payout = (await ask(proxy, {
    path: `/v1/payouts/${encodeURIComponent(id)}`,
    demoKey: 'app',
    afterFailure: 'Ask again.',
  })) as PayoutRecord;
  if (json) return print(payout, json);
  const { state, next, amount_usd, fee_usd, operation, reason } = payout;
  print({ id: payout.id, operation, state, next, amount_usd, fee_usd, reason }, false);
  process.stdout.write('\n');
  print(payout.ledger.map(forPeople), false);
}

function forPeople({ at, entry, amount_usd, from, to, source, status }: PayoutRecord['ledger'][number]) {
  return { at, entry, amount_usd, from, to, source, status };
}
