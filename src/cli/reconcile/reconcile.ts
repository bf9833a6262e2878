import { Command, Option } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import type { TotalsRecord } from '../../reconciliation/matching/totals.dto';
import { download } from '../download';
import { callProxy, withProxyOptions, keyHelp, streamFromProxy, ProxyOptions } from '../proxy-client';
import { followRun, howToFollow, RunEnd } from './follow-run';
import { reconcileImportCommand } from './reconcile-import';

const HELP = `
Starts a reconciliation run on the running proxy, follows it to its end, and writes the report to --out or
standard output. Ctrl-C stops following the run, but the run continues.
${keyHelp('reconciler')}

Exit codes:
  0   clean
  1   no result
  2   findings
  3   incomplete: some data may not have been read
  4   no differences, but calls or transactions in doubt

Examples:
  npm run cli -- reconcile --day yesterday
  npm run cli -- reconcile --day today
  npm run cli -- reconcile --day 2026-11-20 --format html --out 2026-11-20.html
  npm run cli -- reconcile --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z \\
    --format csv --out november.csv
  npm run cli -- reconcile --day yesterday --account kenya
  npm run cli -- reconcile --day 2026-11-20 --as-of 2026-11-21T06:00:00Z
  npm run cli -- reconcile --run 0193…`;

/** Only a clean run exits with zero. */
const EXIT_CODES = { clean: 0, failed: 1, findings: 2, incomplete: 3, clean_with_doubts: 4 } as const;

/** Exit code of shells after Ctrl-C. */
const INTERRUPTED = 130;

const DAY_MS = 86_400_000;

interface Options extends ProxyOptions {
  account?: string;
  from?: string;
  to?: string;
  day?: string;
  asOf?: string;
  statement?: string;
  run?: string;
  format: string;
  out?: string;
}

export function reconcileCommand(): Command {
  return withProxyOptions(new Command('reconcile'), 'reconcile')
    .description('compare the records of a period with the upstream')
    .option('--account <name>', 'upstream account of the run, or of an imported statement (default: main)')
    .option('--from <instant>', 'start of the period, inclusive, such as 2026-11-20T00:00:00Z')
    .option('--to <instant>', 'end of the period, exclusive')
    .option('--day <day>', 'a day in UTC instead of a period: 2026-11-20, yesterday, or today (until now)')
    .option('--as-of <instant>', 'time of the comparison of both sides (default: now)')
    .option('--statement <id>', "ID of a statement to compare with, instead of the upstream's own listing")
    .option('--run <id>', 'ID of an earlier run to follow, instead of a period')
    .addOption(
      new Option('--format <format>', 'format of the report')
        .choices(['json', 'csv', 'html'])
        .default('json'),
    )
    .option('--out <file>', 'file for the report (default: standard output)')
    .addHelpText('after', HELP)
    .addCommand(reconcileImportCommand())
    .action(run);
}

async function run(options: Options): Promise<void> {
  const { proxy, question, id } = readOptions(options);
  const runId = id ?? (await begin(proxy, question));
  const leave = () => {
    process.stderr.write(`\n${howToFollow(runId)}\n`);
    process.exit(INTERRUPTED);
  };
  process.once('SIGINT', leave);
  try {
    const end = await followRun(proxy, runId);
    if (end === 'interrupted')
      throw new ClientError(`No worker continued run ${runId} within a day. Start the same period again.`);
    if (end.result === 'failed') throw new ClientError(end.failure ?? `Run ${runId} has no result.`);
    await writeReport(proxy, runId, options);
    process.stderr.write(`Run ${runId}: ${summary(end)}\n`);
    const code = EXIT_CODES[end.result];
    if (code !== 0) process.exitCode = code;
  } finally {
    process.off('SIGINT', leave);
  }
}

/** @throws ClientError unless the options name exactly one period or run. */
function readOptions({ account, from, to, day, asOf, statement, run: id, url, keyFile }: Options) {
  const proxy: ProxyOptions = {
    ...(url !== undefined && { url }),
    ...(keyFile !== undefined && { keyFile }),
  };
  const choices = [id !== undefined, day !== undefined, from !== undefined || to !== undefined];
  const isWhole = (from === undefined) === (to === undefined);
  if (choices.filter(Boolean).length !== 1 || !isWhole)
    throw new ClientError('Give --from and --to, or --day, or --run.');
  if (id !== undefined && [account, asOf, statement].some((option) => option !== undefined))
    throw new ClientError(
      '--account, --as-of and --statement apply only to a new run. Omit them with --run.',
    );
  const period = day === undefined ? { from, to } : dayOf(day, new Date());
  return { proxy, id, question: { account, ...period, as_of: asOf, statement_id: statement } };
}

/**
 * Returns the period of a day in UTC, from midnight to midnight. The current day ends now.
 * @throws ClientError if the text is not a day, or the day is in the future.
 */
export function dayOf(day: string, now: Date): { from: string; to: string } {
  const ago = { today: 0, yesterday: DAY_MS }[day];
  const date = ago === undefined ? day : new Date(now.getTime() - ago).toISOString().slice(0, 10);
  const from = new Date(`${date}T00:00:00Z`);
  // JavaScript reads February 30 as March 2.
  if (Number.isNaN(from.getTime()) || from.toISOString().slice(0, 10) !== date) {
    throw new ClientError('--day must be a day such as 2026-11-20, or today, or yesterday.');
  }
  if (from >= now) throw new ClientError('--day must not be in the future, in UTC.');
  return {
    from: from.toISOString(),
    to: new Date(Math.min(from.getTime() + DAY_MS, now.getTime())).toISOString(),
  };
}

async function begin(proxy: ProxyOptions, question: object): Promise<string> {
  const answer = await callProxy(proxy, {
    path: '/v1/reconciliation/runs',
    body: question,
    demoKey: 'reconciler',
    afterFailure: 'The run may have started. Run the command again to follow the same run.',
  });
  return (answer as { id: string }).id;
}

async function writeReport(proxy: ProxyOptions, runId: string, { format, out }: Options): Promise<void> {
  const { response } = await streamFromProxy(proxy, {
    path: `/v1/reconciliation/runs/${encodeURIComponent(runId)}/report?format=${format}`,
    demoKey: 'reconciler',
    afterFailure: `The report was not written. Get it with --run ${runId}.`,
  });
  await download(response, out, `Get the report with --run ${runId}.`);
}

function summary({ result, totals }: RunEnd): string {
  if (result === 'clean') return 'clean, no differences';
  const { incomplete = [], findings, ...doubtful } = (totals ?? {}) as Partial<TotalsRecord>;
  const why = incomplete.map(({ detail }) => ` ${detail}`).join('');
  if (result === 'clean_with_doubts') {
    const doubts = doubtsOf(doubtful);
    return doubts === ''
      ? `no differences, but doubts.${why}`
      : `no differences, but ${doubts}${why && `.${why}`}`;
  }
  if (result === 'incomplete') return `incomplete, no differences in the data that was read.${why}`;
  const { count, by_category: categories = {} } = findings ?? {};
  const each = Object.entries(categories)
    .map(([category, sum]) => `${category} ${sum.count}`)
    .join(', ');
  const total = `${count ?? 'some'} finding${count === 1 ? '' : 's'}${each === '' ? '' : ` (${each})`}`;
  return why === '' ? total : `${total}, incomplete: some data may not have been read.${why}`;
}

/** Returns the counts in doubt, and the first calls and transactions. */
function doubtsOf({ in_doubt, pending, ambiguous, doubts = [] }: Partial<TotalsRecord>): string {
  const kinds = { 'in doubt': in_doubt, pending, ambiguous };
  const each = Object.entries(kinds).flatMap(([name, sum]) => (sum?.count ? [`${sum.count} ${name}`] : []));
  const first = doubts
    .slice(0, 5)
    .map(({ call_id: call, upstream_ref: ref }) => call ?? ref ?? 'without a reference');
  const more = doubts.length > first.length ? ', …' : '';
  return each.join(', ') + (first.length > 0 ? `: ${[...new Set(first)].join(', ')}${more}` : '');
}
