import { Command } from 'commander';
import { FullCallRecord } from '../history/records/record.dto';
import { RESOLUTIONS } from '../operations/lifecycle';
import { ask, askingProxy, keyHelp, ProxyOptions } from './asking-proxy';
import { print } from './output';

interface Options extends ProxyOptions {
  verdict: string;
  reason: string;
  supersedes?: string;
  json?: boolean;
}

const HELP = `
Look the call up with the provider first. Nobody settles a call that they asked for themselves.
${keyHelp('approver')}

Examples:
  npm run cli -- calls settle 0193… --verdict not_executed --reason "the provider has no such payout"
  npm run cli -- calls settle 0193… --verdict confirmed --supersedes 0193… --reason "it is in the March statement"`;

export function callsCommands(): Command {
  const calls = new Command('calls').description('calls in doubt, settled by hand').addHelpText('after', HELP);
  askingProxy(calls.command('settle'), 'approve')
    .description('say what became of a call in doubt, or correct how it was settled')
    .argument('<call id>', 'its id, the X-Call-Id of its answer')
    .requiredOption('--verdict <word>', `${RESOLUTIONS.join(' or ')}: whether it was carried out`)
    .requiredOption('--reason <text>', 'how you know, for the record')
    .option('--supersedes <id>', 'correct this resolution; its id is resolution.id of the call')
    .option('--json', 'for machines: what the proxy answers')
    .action(settle);
  return calls;
}

async function settle(id: string, { verdict, reason, supersedes, ...options }: Options): Promise<void> {
  const call = (await ask(options, {
    path: `/v1/calls/${encodeURIComponent(id)}/resolution`,
    demoKey: 'approver',
    afterFailure: 'read the call again before you go on', // it may have been taken all the same
    body: { verdict, reason, supersedes },
  })) as FullCallRecord;
  print(options.json ? call : forPeople(call), options.json);
}

function forPeople({ id, operation, outcome, total_usd, resolution }: FullCallRecord) {
  return { id, operation, total_usd, outcome, resolution: resolution?.id, corrects: resolution?.superseded[0]?.id };
}
