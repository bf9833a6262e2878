import { Command } from 'commander';
import { ApprovalPage } from '../admin/approvals/approvals.dto';
import { ask, askingProxy, keyHelp, ProxyOptions } from './asking-proxy';
import { print } from './output';
import { PAGE_TOKEN, pageQuery, printPage } from './pages';

type Approval = ApprovalPage['approvals'][number];

interface Options extends ProxyOptions {
  json?: boolean;
}

const HELP = `
These commands call the running proxy with the key of an approver. You cannot decide your own requests.
${keyHelp('approver')}

Examples:
  npm run cli -- approvals list
  npm run cli -- approvals approve 0193… --reason "agreed with the shop"
  npm run cli -- approvals reject 0193… --reason "duplicate of an earlier payout"`;

export function approvalsCommands(): Command {
  const approvals = new Command('approvals')
    .description('list, approve, or reject calls that are pending approval')
    .addHelpText('after', HELP);
  approving(approvals.command('list'))
    .description('list approvals, newest first, 200 per page')
    .option('--status <word>', 'status: pending, approved, rejected, or expired', 'pending')
    .option(...PAGE_TOKEN)
    .action(list);
  for (const [decision, does] of [
    ['approve', 'approve a call, send it immediately, and show its outcome'],
    ['reject', 'reject a call, so that it is never sent'],
  ] as const) {
    approving(approvals.command(decision))
      .description(does)
      .argument('<call id>', 'ID of the call, from approvals list')
      .requiredOption('--reason <text>', 'reason for the decision, which is recorded')
      .option('--content-hash <hash>', 'expected content_hash; a call with another one is not decided')
      .action((id: string, { reason, contentHash, ...options }: Options & { reason: string; contentHash?: string }) =>
        decide(options, `${encodeURIComponent(id)}/${decision}`, { reason, content_hash: contentHash }),
      );
  }
  return approvals;
}

function approving(command: Command): Command {
  return askingProxy(command, 'approve').option('--json', 'print the response of the proxy as JSON');
}

async function list({ status, pageToken, ...options }: Options & { status: string; pageToken?: string }) {
  const page = (await askApprovals(options, `?${pageQuery([['status', status]], pageToken)}`)) as ApprovalPage;
  printPage(page, page.approvals.map(forPeople), options.json);
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
    afterFailure: 'The decision may have been made. Check approvals list before you continue.', // it may have been made
    ...(body && { body }),
  });
}
