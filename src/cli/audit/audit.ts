import { Command, Option } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import type { ActivityPage, ActivityRecord } from '../../history/access-log/access-log.dto';
import { newSigningKey } from '../../history/log/note';
import { download } from '../download';
import { filterOption, Filters, PAGE_TOKEN, pageQuery, printPage } from '../output';
import { callProxy, withProxyOptions, keyHelp, streamFromProxy, ProxyOptions } from '../proxy-client';
import { auditEraseCommand } from './audit-erase';
import { auditCheckExportCommand, auditExportCommand } from './audit-export';
import { auditPruneCommand } from './audit-prune';
import { auditVerifyCommand } from './audit-verify';

export function auditCommands(): Command {
  return new Command('audit')
    .description('export the history, list changes, verify the log, erase people, and prune old records')
    .addCommand(auditExportCommand())
    .addCommand(auditCheckExportCommand())
    .addCommand(auditActivityCommand())
    .addCommand(auditVerifyCommand())
    .addCommand(auditEraseCommand())
    .addCommand(auditPruneCommand())
    .addCommand(auditNewKeyCommand());
}

const HELP = `
The key is printed once and not stored. It can sign the log, so keep it secret. Give all instances the same
key. To change the key of a log, create one with the same name, and set LOG_SIGNING_KEY=<new key>,<old key>
on all instances until both have signed a checkpoint (docs/operate/log-and-retention.md).

Example:
  LOG_SIGNING_KEY=$(npm run -s cli -- audit new-key payouts.example.com)`;

function auditNewKeyCommand(): Command {
  return new Command('new-key')
    .description('create a signing key for the log, for LOG_SIGNING_KEY')
    .argument('[name]', 'globally unique name of the log, ideally under a domain of yours', 'payout-proxy')
    .addHelpText('after', HELP)
    .action((name: string) => {
      process.stdout.write(`${keyNamed(name)}\n`);
    });
}

function keyNamed(name: string): string {
  try {
    return newSigningKey(name);
  } catch (error) {
    throw new ClientError((error as Error).message);
  }
}

const ACTIVITY_HELP = `
Calls the running proxy with a key that has the scope audit or admin.
${keyHelp('auditor')}
Filters have the names of the query parameters of GET /v1/activity. Repeat --filter for each. With --csv, all
activity is exported instead of one page.

Examples:
  npm run cli -- audit activity
  npm run cli -- audit activity --filter action=limits_changed --filter client=shop --json
  npm run cli -- audit activity --csv --out activity.csv --filter from=2026-01-01T00:00:00Z`;

interface ActivityOptions extends ProxyOptions {
  filter: Filters;
  pageToken?: string;
  csv?: boolean;
  delimiter: string;
  out?: string;
}

function auditActivityCommand(): Command {
  return withProxyOptions(new Command('activity'), 'audit')
    .description(
      'list changes to clients and keys, stops, low wallets and deletions, newest first, 200 per page',
    )
    .addOption(filterOption('filter; can be repeated', 'client=shop'))
    .option(...PAGE_TOKEN)
    .addOption(new Option('--json', 'print the response of the proxy as JSON').conflicts('csv'))
    .addOption(new Option('--csv', 'export all activity as CSV').conflicts('pageToken'))
    .addOption(
      new Option('--delimiter <name>', 'delimiter of CSV').choices(['comma', 'semicolon']).default('comma'),
    )
    .option('--out <file>', 'file for the CSV (default: standard output)')
    .addHelpText('after', ACTIVITY_HELP)
    .action(run);
}

async function run({ csv, delimiter, out, ...options }: ActivityOptions): Promise<void> {
  if (csv) return exportCsv(options, delimiter, out);
  if (out !== undefined) throw new ClientError('--out requires --csv.');
  return list(options);
}

type Selection = Omit<ActivityOptions, 'csv' | 'delimiter' | 'out'>;

async function exportCsv(
  { filter, ...proxy }: Selection,
  delimiter: string,
  out: string | undefined,
): Promise<void> {
  const query = new URLSearchParams([...filter, ['delimiter', delimiter]]);
  const { response } = await streamFromProxy(proxy, {
    path: `/v1/activity.csv?${query.toString()}`,
    demoKey: 'auditor',
    afterFailure: 'Nothing was written. Run the export again.',
  });
  await download(response, out, 'Run the export again.');
}

async function list({ filter, pageToken, json, ...proxy }: Selection): Promise<void> {
  const page = (await callProxy(proxy, {
    path: `/v1/activity?${pageQuery(filter, pageToken)}`,
    demoKey: 'auditor',
    afterFailure: 'Try again.',
  })) as ActivityPage;
  printPage(page, page.activity.map(forPeople), json);
}

function forPeople({ at, action, target, before, after, by, via, client_address, reason }: ActivityRecord) {
  return {
    at: String(at),
    action,
    target:
      target.client?.name ??
      target.operation ??
      after?.wallet_id ??
      after?.month ??
      after?.erased ??
      after?.process ??
      'everything',
    key: target.key_id,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
    by: [by.client?.name, by.actor].filter(Boolean).join(' ') || null,
    via,
    client_address,
    reason,
  };
}
