import { Command, InvalidArgumentError, Option } from 'commander';
import { readFile } from 'node:fs/promises';
import { ClientError } from '../access/clients/client-error';
import type { FindingDecisions } from '../reconciliation/findings/decisions.dto';
import type { FindingPage, FindingRecord } from '../reconciliation/findings/findings.dto';
import { ask, askingProxy, keyHelp, open, ProxyOptions } from './asking-proxy';
import { download } from './download';
import { print } from './output';

const HELP = `
These commands ask the running proxy, with a key that has the scope reconcile.
${keyHelp('reconciler')}
Filters are those of GET /v1/reconciliation/findings, by their names, as often as needed; without state, what waits is meant.

Examples:
  npm run cli -- findings list --filter severity=critical
  npm run cli -- findings export --out findings.csv --filter min_age_days=7
  npm run cli -- findings decide --file findings.csv --key-file grace.key
In between, write explained, resolved, accepted or reopened into the column decision, and why into the column reason.
To accept a difference takes a key that belongs to a person: keys issue --client … --person ….`;

interface Options extends ProxyOptions {
  json?: boolean;
  filter: [string, string][];
}

/** Which filters there are, and what they may be, the proxy says. */
function addFilter(given: string, before: [string, string][]): [string, string][] {
  const place = given.indexOf('=');
  if (place < 1) throw new InvalidArgumentError('It must be name=value, such as severity=critical.');
  return [...before, [given.slice(0, place), given.slice(place + 1)]];
}

export function findingsCommands(): Command {
  const findings = new Command('findings')
    .description("differences between our history and the upstream's")
    .addHelpText('after', HELP);
  asking(findings.command('list'))
    .description('list them, newest first, two hundred at a time')
    .option('--filter <name=value>', 'only these', addFilter, [])
    .option('--json', 'for machines: what the proxy answers')
    .option('--page-token <token>', 'the older ones that the list before ended with')
    .action(list);
  asking(findings.command('export'))
    .description('write them to a CSV file, to decide about them in a spreadsheet')
    .option('--filter <name=value>', 'only these', addFilter, [])
    .addOption(new Option('--delimiter <name>', 'between cells').choices(['comma', 'semicolon']).default('comma'))
    .option('--out <file>', 'where to; without it, to standard output')
    .action(exportCsv);
  asking(findings.command('decide'))
    .description(
      'send such a file back, with the columns decision and reason filled in: all of it is decided, or nothing',
    )
    .requiredOption('--file <file>', 'the file')
    .option('--actor <person>', 'for whom you ask; it is recorded, and decides nothing')
    .option('--json', 'for machines: what the proxy answers')
    .action(decide);
  return findings;
}

function asking(command: Command): Command {
  return askingProxy(command, 'reconcile');
}

async function list({ filter, pageToken, json, ...proxy }: Options & { pageToken?: string }): Promise<void> {
  const query = new URLSearchParams([
    ...filter,
    ['page_size', '200'],
    ...(pageToken === undefined ? [] : [['page_token', pageToken] as [string, string]]),
  ]);
  const page = (await ask(proxy, {
    path: `/v1/reconciliation/findings?${query.toString()}`,
    demoKey: 'reconciler',
    afterFailure: 'ask again',
  })) as FindingPage;
  print(json ? page : page.findings.map(forPeople), json);
  if (!json && page.next_page_token) process.stdout.write(`older: --page-token ${page.next_page_token}\n`);
}

function forPeople({ id, severity, category, impact_usd, occurred_at, state, age_days, ...more }: FindingRecord) {
  const differs = more.fields.map(({ field, ours, theirs }) => `${field}: ${ours ?? '-'} | ${theirs ?? '-'}`);
  return {
    id,
    severity,
    category,
    impact_usd,
    occurred_at,
    state,
    days: age_days,
    subject: more.subject,
    'ours | theirs': differs.join('; '),
  };
}

async function exportCsv({ filter, delimiter, out, ...proxy }: Options & { delimiter: string; out?: string }) {
  const query = new URLSearchParams([...filter, ['delimiter', delimiter]]);
  const { response } = await open(proxy, {
    path: `/v1/reconciliation/findings.csv?${query.toString()}`,
    demoKey: 'reconciler',
    afterFailure: 'nothing was written',
  });
  await download(response, out, 'ask for the export again');
}

async function decide({ file, actor, json, ...proxy }: Omit<Options, 'filter'> & { file: string; actor?: string }) {
  const csv = await readFile(file).catch(() => {
    throw new ClientError(`the file ${file} cannot be read`);
  });
  const answer = (await ask(proxy, {
    path: '/v1/reconciliation/findings/decisions.csv',
    demoKey: 'reconciler',
    csv,
    ...(actor !== undefined && { actor }),
    afterFailure: 'they may have been decided; send the file again, and it says so',
  })) as FindingDecisions;
  if (json) print(answer, json);
  else process.stdout.write(`${answer.decided} decided, ${answer.ignored} rows without a decision\n`);
}
