import { Command } from 'commander';
import { ApprovalPage } from '../admin/approvals/approvals.dto';
import { ask, askingProxy, keyHelp, ProxyOptions } from './asking-proxy';
import { print } from './output';

type Approval = ApprovalPage['approvals'][number];

interface Options extends ProxyOptions {
  json?: boolean;
}

const HELP = `
These commands ask the running proxy, with the key of somebody who may approve: nobody decides about what they asked for.
${keyHelp('approver')}

Examples:
  npm run cli -- approvals list
  npm run cli -- approvals approve 0193… --reason "agreed with the shop"`;

export function approvalsCommands(): Command {
  const approvals = new Command('approvals')
    .description('calls that wait until somebody else agrees to them')
    .addHelpText('after', HELP);
  approving(approvals.command('list'))
    .description('list them, newest first, two hundred at a time')
    .option('--status <word>', 'pending, approved, rejected or expired', 'pending')
    .option('--page-token <token>', 'the older ones that the list before ended with')
    .action(list);
  for (const [verdict, does] of [
    ['approve', 'agree to a call, which is sent at once, and show what came of it'],
    ['reject', 'refuse a call: it is never sent'],
  ] as const) {
    approving(approvals.command(verdict))
      .description(does)
      .argument('<call id>', 'its id, from approvals list')
      .requiredOption('--reason <text>', 'why, for the record')
      .option('--content-hash <hash>', 'decide only if the call has this content_hash')
      .action((id: string, { reason, contentHash, ...options }: Options & { reason: string; contentHash?: string }) =>
        decide(options, `${encodeURIComponent(id)}/${verdict}`, { reason, content_hash: contentHash }),
      );
  }
  return approvals;
}

function approving(command: Command): Command {
  return askingProxy(command, 'approve').option('--json', 'for machines: what the proxy answers');
}

async function list({ status, pageToken, ...options }: Options & { status: string; pageToken?: string }) {
  const query = new URLSearchParams({ status, page_size: '200', ...(pageToken && { page_token: pageToken }) });
  const page = (await askApprovals(options, `?${query.toString()}`)) as ApprovalPage;
  print(options.json ? page : page.approvals.map(forPeople), options.json);
  if (!options.json && page.next_page_token) process.stdout.write(`older: --page-token ${page.next_page_token}\n`);
}

async function decide(options: Options, path: string, body: object): Promise<void> {
  const call = (await askApprovals(options, `/${path}`, body)) as Approval;
  print(options.json ? call : forPeople(call), options.json);
}

function forPeople({ id, client, operation, total_usd, item_count, outcome, approval }: Approval) {
  return {
    id,
    client: client.name,
    operation,
    total_usd,
    items: item_count,
    outcome,
    held_for: approval?.held_for,
    expires_at: approval?.expires_at,
  };
}

/** @param path below `/v1/approvals`. */
function askApprovals(options: ProxyOptions, path: string, body?: object): Promise<object> {
  return ask(options, {
    path: `/v1/approvals${path}`,
    demoKey: 'approver',
    afterFailure: 'look with approvals list what was decided before you go on', // it may have been taken all the same
    ...(body && { body }),
  });
}
