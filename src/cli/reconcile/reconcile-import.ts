import { createReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { Command, Option } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import type { ImportedStatement } from '../../reconciliation/sources/statements.dto';
import { forTerminal, print } from '../output';
import { callProxy, keyHelp, ProxyOptions } from '../proxy-client';
import { Progress } from '../terminal';

/** Exit code if some lines could not be used. */
const WITH_FAULTS = 2;

const HELP = `
Uploads a provider's CSV file of payments to the running proxy, and prints the ID of the statement. Give this
ID to "reconcile --statement" to compare a period with it. The mapping is JSON with the column name of each
field. @FILE reads it from a file. Unusable lines are listed and skipped, and the exit code is 2. Columns that
identify recipients are read only with the scope audit:pii. A second import of the same file has no effect.
With --account NAME, the statement is of that upstream account.
${keyHelp('reconciler')}

Examples:
  npm run cli -- reconcile import march.csv \\
    --mapping '{"upstream_ref":"Reference ID","amount_usd":"Amount","issued_at":"Date"}'
  npm run cli -- reconcile import march.csv --mapping @provider.json --delimiter semicolon --decimal-comma
  npm run cli -- reconcile --from 2026-03-01T00:00:00Z --to 2026-04-01T00:00:00Z --statement 0193…`;

interface Options extends ProxyOptions {
  account?: string;
  mapping: string;
  delimiter: string;
  decimalComma?: boolean;
}

/** Returns the command `reconcile import`, which uses --url, --key-file and --account of `reconcile`. */
export function reconcileImportCommand(): Command {
  return new Command('import')
    .description('import a CSV statement to reconcile with')
    .argument('<file>', 'the statement')
    .requiredOption(
      '--mapping <mapping>',
      'columns of the fields: JSON, @FILE, or a preset (fields, upstream)',
    )
    .addOption(
      new Option('--delimiter <name>', 'delimiter of columns')
        .choices(['comma', 'semicolon', 'tab', 'bar'])
        .default('comma'),
    )
    .option('--decimal-comma', 'read numbers as 1.234,50')
    .option('--json', 'print the response of the proxy as JSON')
    .addHelpText('after', HELP)
    .action((file: string, _own: object, command: Command) => run(file, command.optsWithGlobals<Options>()));
}

async function run(
  file: string,
  { account, mapping, delimiter, decimalComma, json, ...proxy }: Options,
): Promise<void> {
  const query = new URLSearchParams({
    mapping: await mappingIn(mapping),
    delimiter,
    file: basename(file),
    ...(account !== undefined && { account }),
    ...(decimalComma && { decimal_comma: 'true' }),
  });
  const statement = (await callProxy(proxy, {
    path: `/v1/reconciliation/statements?${query.toString()}`,
    csv: readWithProgress(file),
    demoKey: 'reconciler',
    afterFailure: 'Import the file again. A second import of the same file has no effect.',
  })) as ImportedStatement;
  if (json) print(statement, json);
  else process.stdout.write(`${summary(statement)}\n`);
  if (statement.fault_count > 0) process.exitCode = WITH_FAULTS;
}

async function mappingIn(text: string): Promise<string> {
  if (!text.startsWith('@')) return text;
  const file = text.slice(1);
  return readFile(file, 'utf8').catch(() => {
    throw new ClientError(`The mapping file ${file} cannot be read.`);
  });
}

function readWithProgress(file: string): Readable {
  const size = sizeOf(file);
  const progress = new Progress('bytes');
  let bytes = 0;
  const stream = createReadStream(file);
  stream.on('data', (chunk) => progress.at((bytes += chunk.length), size));
  stream.on('close', () => progress.end());
  return stream.pause();
}

function sizeOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw new ClientError(`The file ${file} cannot be read.`);
  return stats.size;
}

function summary(statement: ImportedStatement): string {
  const { read_id: id, rows, kept, faults, fault_count: count, already_imported: before } = statement;
  const ignored = statement.ignored_fields.join(', ');
  const more =
    count > faults.length
      ? [`… and ${count - faults.length} more: GET /v1/reconciliation/statements/${id}`]
      : [];
  return [
    `${before ? 'Already imported' : 'Imported'}: ${kept} of ${rows} lines can be used.`,
    ...(ignored === '' ? [] : [`Skipped columns, because the key lacks the scope audit:pii: ${ignored}`]),
    ...faults.map(({ line, reason }) => `line ${line}: ${forTerminal(reason)}`),
    ...more,
    `statement ${id}`,
  ].join('\n');
}
