import { Command } from 'commander';
import { FullCallRecord } from '../history/records/record.dto';
import { RESOLUTIONS } from '../operations/lifecycle';
import { ask, askingProxy, keyHelp, ProxyOptions } from './asking-proxy';
import { print } from './output';

interface Options extends ProxyOptions {
  outcome: string;
  reason: string;
  supersedes?: string;
  json?: boolean;
}

const HELP = `
Look up the call with the provider first. You cannot settle your own calls.
${keyHelp('approver')}

Examples:
  npm run cli -- calls settle 0193… --outcome not_executed --reason "the provider has no such payout"
  npm run cli -- calls settle 0193… --outcome confirmed --supersedes 0193… --reason "it is in the March statement"`;

export function callsCommands(): Command {
  const calls = new Command('calls').description('settle calls in doubt by hand').addHelpText('after', HELP);
  askingProxy(calls.command('settle'), 'approve')
    .description('settle a call in doubt, or correct its resolution')
    .argument('<call id>', 'ID of the call, from X-Call-Id of its response')
    .requiredOption('--outcome <word>', `${RESOLUTIONS.join(' or ')}: whether the call was carried out`)
    .requiredOption('--reason <text>', 'evidence for the resolution, which is recorded')
    .option('--supersedes <id>', 'ID of the resolution to correct: resolution.id of the call')
    .option('--json', 'print the response of the proxy as JSON')
    .action(settle);
  return calls;
}

async function settle(id: string, { outcome, reason, supersedes, ...options }: Options): Promise<void> {
  const call = (await ask(options, {
    path: `/v1/calls/${encodeURIComponent(id)}/resolution`,
    demoKey: 'approver',
    afterFailure: 'The call may have been settled. Read it again before you continue.', // it may have been settled
    body: { outcome, reason, supersedes },
  })) as FullCallRecord;
  print(options.json ? call : forPeople(call), options.json);
}

function forPeople({ id, operation, outcome, total_usd, settlements: [newest, before] }: FullCallRecord) {
  return { id, operation, total_usd, outcome, settlement: newest?.id, corrects: before?.id };
}
