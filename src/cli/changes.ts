import { Command } from 'commander';
import type { ApprovedChangeRecord, ChangeRecord, ChangesDto } from '../admin/clients/changes.dto';
import { CHANGE_STATUSES } from '../access/governance/pending-changes';
import { askingProxy, keyHelp, ProxyOptions } from './asking-proxy';
import { askClients } from './governed';
import { print } from './output';
import { PAGE_TOKEN, pageQuery, printPage } from './pages';

interface Options extends ProxyOptions {
  json?: boolean;
}

const HELP = `
Calls the running proxy with a key that has the scope admin. A decision needs a personal key of another person than the requester.
An approved key of a person has no secret yet. Give the printed claim code to that person alone: keys claim.
${keyHelp('admin')}

Examples:
  npm run cli -- changes list
  npm run cli -- changes approve 0193… --reason "agreed with the shop"
  npm run cli -- changes reject 0193… --reason "the cap is high enough"`;

export function changesCommands(): Command {
  const changes = new Command('changes')
    .description('list, approve, or reject changes that need a second person')
    .addHelpText('after', HELP);
  asking(changes.command('list'))
    .description('list changes, newest first, 200 per page')
    .option('--status <word>', `status: ${CHANGE_STATUSES.join(', ')}`, 'pending')
    .option(...PAGE_TOKEN)
    .action(list);
  for (const [decision, does] of [
    ['approve', 'make a change that another person requested'],
    ['reject', 'reject a change, so that it is never made'],
  ] as const) {
    asking(changes.command(decision))
      .description(does)
      .argument('<id>', 'ID of the change, from changes list')
      .requiredOption('--reason <text>', 'reason for the decision, which is recorded')
      .action(async (id: string, { reason, json, ...proxy }: Options & { reason: string }) => {
        const path = `/v1/changes/${encodeURIComponent(id)}/${decision}`;
        const change = (await askClients(proxy, { path, body: { reason } })) as ApprovedChangeRecord;
        const { claim_code } = change;
        print(json ? change : { ...forPeople(change), ...(claim_code !== undefined && { claim_code }) }, json);
      });
  }
  return changes;
}

async function list({ status, pageToken, json, ...proxy }: Options & { status: string; pageToken?: string }) {
  const path = `/v1/changes?${pageQuery([['status', status]], pageToken)}`;
  const page = (await askClients(proxy, { path })) as ChangesDto;
  printPage(page, page.changes.map(forPeople), json);
}

function asking(command: Command): Command {
  return askingProxy(command, 'admin').option('--json', 'print the response of the proxy as JSON');
}

function forPeople({
  id,
  kind,
  client,
  status,
  before,
  after,
  holders,
  requested_by,
  reason,
  expires_at,
}: ChangeRecord) {
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
