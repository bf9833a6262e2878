import { Command } from 'commander';
import type { ActivityPage, ActivityRecord } from '../history/access-log/activity.dto';
import { ask, askingProxy, keyHelp, ProxyOptions } from './asking-proxy';
import { addFilter } from './audit-export';
import { print } from './output';

const HELP = `
Calls the running proxy with a key that has the scope audit or admin. ${keyHelp('auditor')}
Filters have the names of the query parameters of GET /v1/activity. Repeat --filter for each.

Examples:
  npm run cli -- audit activity
  npm run cli -- audit activity --filter action=limits_changed --filter client=shop --json`;

interface ActivityOptions extends ProxyOptions {
  filter: [string, string][];
  pageToken?: string;
  json?: boolean;
}

export function auditActivityCommand(): Command {
  return askingProxy(new Command('activity'), 'audit')
    .description('list changes to clients and keys, stops, low wallets and deletions, newest first, 200 per page')
    .option('--filter <name=value>', 'filter to apply; can be repeated', addFilter, [])
    .option('--page-token <token>', 'token of the next page, from the previous list')
    .option('--json', 'print the response of the proxy as JSON')
    .addHelpText('after', HELP)
    .action(run);
}

async function run({ filter, pageToken, json, ...proxy }: ActivityOptions): Promise<void> {
  const query = new URLSearchParams([...filter, ['page_size', '200']]);
  if (pageToken !== undefined) query.set('page_token', pageToken);
  const page = (await ask(proxy, {
    path: `/v1/activity?${query.toString()}`,
    demoKey: 'auditor',
    afterFailure: 'Try again.',
  })) as ActivityPage;
  print(json ? page : page.activity.map(forPeople), json);
  if (!json && page.next_page_token) process.stdout.write(`Next page: --page-token ${page.next_page_token}\n`);
}

function forPeople({ at, action, target, before, after, by, via, client_address, reason }: ActivityRecord) {
  return {
    at: String(at),
    action,
    target:
      target.client?.name ?? target.operation ?? after?.wallet_id ?? after?.month ?? after?.erased ?? 'everything',
    key: target.key_id,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
    by: [by.client?.name, by.actor].filter(Boolean).join(' ') || null,
    via,
    client_address,
    reason,
  };
}
