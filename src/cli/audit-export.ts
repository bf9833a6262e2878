import { Command, InvalidArgumentError, Option } from 'commander';
import { createReadStream } from 'node:fs';
import { FileHandle, open as openFile, rename, rm } from 'node:fs/promises';
import type { Manifest } from '../audit/export/format';
import { ClientError } from '../clients/client-error';
import { askingProxy, keyHelp, open, ProxyOptions } from './asking-proxy';
import { ExportCheck } from './export-check';
import { print } from './output';
import { Progress } from './progress';

const HELP = `
Asks the running proxy, with the key of an auditor. ${keyHelp('auditor')}
What comes is compared with the manifest at its end; until then the file is called FILE.partial. Without --out the export goes to
standard output. An export that broke off leaves no FILE, and the exit code is 1.
Filters are those of GET /v1/audit/calls, by their names, as often as needed.

Examples:
  npm run cli -- audit export --format csv --out march.csv --filter from=2026-03-01T00:00:00Z --filter to=2026-04-01T00:00:00Z
  npm run cli -- audit export --format ndjson --what items --filter recipient=ada@example.com | jq .amount_usd`;

/** Which filters there are, and what they may be, the proxy says. */
export function addFilter(given: string, before: [string, string][]): [string, string][] {
  const place = given.indexOf('=');
  if (place < 1) throw new InvalidArgumentError('It must be name=value, such as client=shop.');
  return [...before, [given.slice(0, place), given.slice(place + 1)]];
}

interface ExportOptions extends ProxyOptions {
  format: string;
  what: string;
  filter: [string, string][];
  out?: string;
}

export function auditExportCommand(): Command {
  return askingProxy(new Command('export'), 'audit')
    .description('write calls or their payouts to a file, oldest first')
    .addOption(new Option('--format <format>').choices(['csv', 'ndjson']).makeOptionMandatory())
    .addOption(new Option('--what <what>', 'a row for each').choices(['calls', 'items']).default('calls'))
    .option('--filter <name=value>', 'only these', addFilter, [])
    .option('--out <file>', 'where to')
    .addHelpText('after', HELP)
    .action(run);
}

export function auditCheckExportCommand(): Command {
  return new Command('check-export')
    .description('compare an export with the manifest at its end')
    .argument('<file>', 'the export')
    .option('--json', 'for machines: the manifest')
    .action(async (file: string, { json }: { json?: boolean }) => {
      const check = new ExportCheck();
      try {
        for await (const chunk of createReadStream(file)) check.push(chunk as Buffer);
      } catch (error) {
        throw error instanceof ClientError ? error : new ClientError(`${file} cannot be read`);
      }
      const manifest = check.end();
      if (json) print(manifest, json);
      else process.stdout.write(`${summary(manifest)}\n`);
    });
}

async function run({ format, what, filter, out, ...proxy }: ExportOptions): Promise<void> {
  const query = new URLSearchParams([...filter, ['format', format], ['what', what]]);
  const { response } = await open(proxy, {
    path: `/v1/audit/export?${query.toString()}`,
    demoKey: 'auditor',
    afterFailure: 'nothing was written',
  });
  if (out === undefined) {
    await copy(response, (chunk) => writeOut(chunk));
    return;
  }
  const partial = `${out}.partial`;
  const file = await openFile(partial, 'w', 0o600).catch((error: unknown) => {
    throw new ClientError(`${partial} cannot be written (${(error as { code?: string }).code ?? 'no reason given'})`);
  });
  try {
    const manifest = await writing(file, response);
    await rename(partial, out);
    process.stderr.write(`${out}: ${summary(manifest)}\n`);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writing(file: FileHandle, response: Response): Promise<Manifest> {
  try {
    const manifest = await copy(response, (chunk) => file.writeFile(chunk));
    await file.sync();
    return manifest;
  } finally {
    await file.close();
  }
}

/** @throws ClientError if it broke off, or is not what its manifest says. */
async function copy({ body, headers }: Response, write: (chunk: Buffer) => Promise<void>): Promise<Manifest> {
  const check = new ExportCheck();
  const progress = new Progress('rows');
  const total = headers.get('x-total-count');
  try {
    for await (const bytes of body ?? []) {
      const chunk = Buffer.from(bytes as Uint8Array);
      check.push(chunk);
      await write(chunk);
      progress.at(check.rows, total === null ? undefined : Number(total));
    }
  } catch (error) {
    if (error instanceof ClientError || 'code' in (error as object)) throw error; // of the file
    throw new ClientError(`the export broke off after ${check.rows} rows; run it again`);
  } finally {
    progress.end();
  }
  return check.end();
}

/** Waits until it is written: whoever reads slowly must not make us hold it all. */
function writeOut(chunk: Buffer): Promise<void> {
  return new Promise((done, failed) => process.stdout.write(chunk, (error) => (error ? failed(error) : done())));
}

function summary({ rows, what, sha256, checkpoint }: Manifest): string {
  const sealed = checkpoint ? `the log's checkpoint of ${checkpoint.size} records` : 'no checkpoint';
  return `${rows} ${what}, whole; SHA-256 ${sha256}; ${sealed}`;
}
