import { Command } from 'commander';
import { CHANGE_STATUSES } from '../../access/dual-control/change-status';
import type { ApprovalPage } from '../../admin/approvals/approvals.dto';
import type { ApprovedChangeRecord, ChangeRecord, ChangesDto } from '../../admin/clients/changes.dto';
import { PAGE_TOKEN, pageQuery, print, printPage } from '../output';
import { callClientApi, callProxy, withProxyOptions, keyHelp, ProxyOptions } from '../proxy-client';

const APPROVALS_HELP = `
These commands call the running proxy with the key of an approver. You cannot decide your own requests.
${keyHelp('approver')}

Examples:
  npm run cli -- approvals list
  npm run cli -- approvals approve 0193… --reason "agreed with the shop"
  npm run cli -- approvals reject 0193… --reason "duplicate of an earlier payout"`;

export function approvalsCommands(): Command {
  const approvals = new Command('approvals')
    .description('list, approve, or reject calls that are pending approval')
    .addHelpText('after', APPROVALS_HELP);
  addListCommand(approvals, 'approve', 'status: pending, approved, rejected, or expired')
    .description('list approvals, newest first, 200 per page')
    .action(listApprovals);
  for (const command of addDecisionCommands(approvals, 'approve', {
    approve: 'approve a call, send it immediately, and show its outcome',
    reject: 'reject a call, so that it is never sent',
  }))
    command
      .argument('<call id>', 'ID of the call, from approvals list')
      .option('--content-hash <hash>', 'expected content_hash; another one is refused')
      .action(
        async (
          id: string,
          { reason, contentHash, ...options }: DecisionOptions & { contentHash?: string },
        ) => {
          const path = `/${encodeURIComponent(id)}/${command.name()}`;
          const call = (await callApprovals(options, path, {
            reason,
            content_hash: contentHash,
          })) as Approval;
          print(options.json ? call : callForPeople(call), options.json);
        },
      );
  return approvals;
}

async function listApprovals({ status, pageToken, ...options }: ListOptions): Promise<void> {
  const page = (await callApprovals(
    options,
    `?${pageQuery([['status', status]], pageToken)}`,
  )) as ApprovalPage;
  printPage(page, page.approvals.map(callForPeople), options.json);
}

type Approval = ApprovalPage['approvals'][number];

function callForPeople({ id, client, operation, total_usd, item_count, outcome, approval }: Approval) {
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
function callApprovals(options: ProxyOptions, path: string, body?: object): Promise<object> {
  return callProxy(options, {
    path: `/v1/approvals${path}`,
    demoKey: 'approver',
    afterFailure: 'The decision may have been made. Check approvals list before you continue.',
    ...(body && { body }),
  });
}

const CHANGES_HELP = `
These commands call the running proxy with a key that has the scope admin or, for payouts, the
scope approve. A decision needs a personal key of another person than the requester. An approved key of a
person has no secret yet. Give the claim code to that person alone: keys claim.
${keyHelp('admin')}

Examples:
  npm run cli -- changes list
  npm run cli -- changes approve 0193… --reason "agreed with the shop"
  npm run cli -- changes reject 0193… --reason "the cap is high enough"`;

export function changesCommands(): Command {
  const changes = new Command('changes')
    .description('list, approve, or reject changes under dual control')
    .addHelpText('after', CHANGES_HELP);
  addListCommand(changes, 'admin or approve', `status: ${CHANGE_STATUSES.join(', ')}`)
    .description('list changes, newest first, 200 per page')
    .action(listChanges);
  for (const command of addDecisionCommands(changes, 'admin or approve', {
    approve: 'make a change that another person requested',
    reject: 'reject a change, so that it is never made',
  }))
    command
      .argument('<id>', 'ID of the change, from changes list')
      .action(async (id: string, { reason, json, ...proxy }: DecisionOptions) => {
        const path = `/v1/changes/${encodeURIComponent(id)}/${command.name()}`;
        const change = (await callClientApi(proxy, { path, body: { reason } })) as ApprovedChangeRecord;
        const { claim_code } = change;
        const row = { ...changeForPeople(change), ...(claim_code !== undefined && { claim_code }) };
        print(json ? change : row, json);
      });
  return changes;
}

async function listChanges({ status, pageToken, json, ...proxy }: ListOptions): Promise<void> {
  const path = `/v1/changes?${pageQuery([['status', status]], pageToken)}`;
  const page = (await callClientApi(proxy, { path })) as ChangesDto;
  printPage(page, page.changes.map(changeForPeople), json);
}

function changeForPeople(change: ChangeRecord) {
  const { id, kind, client, status, before, after, holders, requested_by, reason, expires_at } = change;
  return {
    id,
    kind,
    client,
    status,
    before: before && JSON.stringify(before),
    after: JSON.stringify(after),
    holders: holders.map(({ person, key_id }) => person ?? key_id).join(', '),
    requested_by: requested_by.person,
    reason,
    expires_at: String(expires_at),
  };
}

type ListOptions = ProxyOptions & { status: string; pageToken?: string };

/** Adds the command `list` to a group. */
function addListCommand(group: Command, scope: string, statuses: string): Command {
  return withJsonOptions(group.command('list'), scope)
    .option('--status <word>', statuses, 'pending')
    .option(...PAGE_TOKEN);
}

type DecisionOptions = ProxyOptions & { reason: string };

/** Adds the commands `approve` and `reject` to a group. */
function addDecisionCommands(
  group: Command,
  scope: string,
  descriptions: Record<'approve' | 'reject', string>,
): Command[] {
  return Object.entries(descriptions).map(([decision, does]) =>
    withJsonOptions(group.command(decision), scope)
      .description(does)
      .requiredOption('--reason <text>', 'reason for the record'),
  );
}

function withJsonOptions(command: Command, scope: string): Command {
  return withProxyOptions(command, scope).option('--json', 'print the response of the proxy as JSON');
}
