import { readFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import type { FindingDecisions } from '../../reconciliation/findings/decisions.dto';
import type { FindingPage, FindingRecord } from '../../reconciliation/findings/findings.dto';
import { download } from '../download';
import { print, filterOption, Filters, PAGE_TOKEN, pageQuery, printPage } from '../output';
import { callProxy, withProxyOptions, keyHelp, streamFromProxy, ProxyOptions } from '../proxy-client';

const HELP = `
These commands call the running proxy with a key that has the scope reconcile.
${keyHelp('reconciler')}
Filters have the names of the query parameters of GET /v1/reconciliation/findings. Repeat --filter for each.
Without a filter for state, open and reopened findings are selected.

Examples:
  npm run cli -- findings list --filter severity=critical
  npm run cli -- findings list --filter account=kenya
  npm run cli -- findings export --out findings.csv --filter min_age_days=7
  npm run cli -- findings decide --file findings.csv --key-file grace.key

Before "decide", write explained, resolved, accepted, or reopened into the column decision, and the reason
into the column reason. Only a personal key can accept a difference: keys issue --client … --person ….`;

interface Options extends ProxyOptions {
  filter: Filters;
}

const FILTER = filterOption('filter; can be repeated', 'severity=critical');

export function findingsCommands(): Command {
  const findings = new Command('findings')
    .description("list, export, and decide differences between the proxy's records and the upstream")
    .addHelpText('after', HELP);
  withReconcileOptions(findings.command('list'))
    .description('list findings, newest first, 200 per page')
    .addOption(FILTER)
    .option('--json', 'print the response of the proxy as JSON')
    .option(...PAGE_TOKEN)
    .action(list);
  withReconcileOptions(findings.command('export'))
    .description('export findings to a CSV file, to decide them in a spreadsheet')
    .addOption(FILTER)
    .addOption(new Option('--delimiter <name>', 'delimiter').choices(['comma', 'semicolon']).default('comma'))
    .option('--out <file>', 'file for the export (default: standard output)')
    .action(exportCsv);
  withReconcileOptions(findings.command('decide'))
    .description('decide the findings of an exported file by its columns decision and reason, all or none')
    .requiredOption('--file <file>', 'the file')
    .option('--actor <person>', 'ID of the person on whose behalf you decide, for the record')
    .option('--json', 'print the response of the proxy as JSON')
    .action(decide);
  return findings;
}

function withReconcileOptions(command: Command): Command {
  return withProxyOptions(command, 'reconcile');
}

async function list({ filter, pageToken, json, ...proxy }: Options & { pageToken?: string }): Promise<void> {
  const page = (await callProxy(proxy, {
    path: `/v1/reconciliation/findings?${pageQuery(filter, pageToken)}`,
    demoKey: 'reconciler',
    afterFailure: 'Run the command again.',
  })) as FindingPage;
  const { MAIN_ACCOUNT } = await import('../../platform/config/upstream/upstream-accounts.js');
  const isOfSeveral = page.findings.some(({ account }) => account !== MAIN_ACCOUNT);
  const rows = page.findings.map((finding) => ({
    ...(isOfSeveral && { account: finding.account }),
    ...forPeople(finding),
  }));
  printPage(page, rows, json);
}

function forPeople(finding: FindingRecord) {
  const { id, severity, category, impact_usd, occurred_at, state, age_days: days, subject, fields } = finding;
  const differences = fields.map(({ field, ours, theirs }) => `${field}: ${ours ?? '-'} | ${theirs ?? '-'}`);
  return {
    id,
    severity,
    category,
    impact_usd,
    occurred_at,
    state,
    days,
    subject,
    'ours | theirs': differences.join('; '),
  };
}

type ExportOptions = Options & { delimiter: string; out?: string };

async function exportCsv({ filter, delimiter, out, ...proxy }: ExportOptions): Promise<void> {
  const query = new URLSearchParams([...filter, ['delimiter', delimiter]]);
  const { response } = await streamFromProxy(proxy, {
    path: `/v1/reconciliation/findings.csv?${query.toString()}`,
    demoKey: 'reconciler',
    afterFailure: 'Nothing was written. Run the export again.',
  });
  await download(response, out, 'Run the export again.');
}

type DecideOptions = ProxyOptions & { file: string; actor?: string };

async function decide({ file, actor, json, ...proxy }: DecideOptions): Promise<void> {
  const csv = await readFile(file).catch(() => {
    throw new ClientError(`The file ${file} cannot be read.`);
  });
  const answer = (await callProxy(proxy, {
    path: '/v1/reconciliation/findings/decisions.csv',
    demoKey: 'reconciler',
    csv,
    ...(actor !== undefined && { actor }),
    afterFailure: 'The findings may have been decided. Send the file again to find out.',
  })) as FindingDecisions;
  const { decided, ignored } = answer;
  if (json) print(answer, json);
  else process.stdout.write(`Decided ${decided} findings. Skipped ${ignored} rows without a decision.\n`);
}
