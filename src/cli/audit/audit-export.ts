import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { FileHandle, open as openFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import type { ManifestRecord } from '../../history/export/export.dto';
import { codeOrNameOf } from '../../platform/errors/error-code';
import { readStrictJson } from '../../platform/json/strict-json';
import { writeOut } from '../download';
import { print, filterOption, Filters } from '../output';
import { callProxy, withProxyOptions, keyHelp, streamFromProxy, ProxyOptions } from '../proxy-client';
import { Progress } from '../terminal';

const HELP = `
Calls the running proxy with the key of an auditor.
${keyHelp('auditor')}

The command checks the export against its manifest and writes the manifest as FILE.manifest.json. Keep both
files for check-export. An incomplete export has the name FILE.partial. A failed export leaves no file and
exits with code 1. Without --out, the export goes to standard output, and the manifest to --manifest. Filters
have the names of the query parameters of GET /v1/audit/calls. Repeat --filter for each.

Examples:
  npm run cli -- audit export --format csv --out march.csv \\
    --filter from=2026-03-01T00:00:00Z --filter to=2026-04-01T00:00:00Z
  npm run -s cli -- audit export --format ndjson --what items --filter recipient=ada@example.com \\
    | jq .amount_usd`;

const CHECK_HELP = `
Examples:
  npm run cli -- audit check-export march.csv
  npm run cli -- audit check-export march.csv --manifest archive/march.json --json`;

interface ExportOptions extends ProxyOptions {
  format: string;
  what: string;
  filter: Filters;
  out?: string;
  manifest?: string;
}

export function auditExportCommand(): Command {
  return withProxyOptions(new Command('export'), 'audit')
    .description('export calls or their payouts to a file, oldest first')
    .addOption(new Option('--format <format>', 'format').choices(['csv', 'ndjson']).makeOptionMandatory())
    .addOption(new Option('--what <what>', 'kind of rows').choices(['calls', 'items']).default('calls'))
    .addOption(filterOption('filter; can be repeated', 'client=shop'))
    .option('--out <file>', 'file for the export (default: standard output)')
    .option('--manifest <file>', 'file for the manifest (default: OUT.manifest.json)')
    .addHelpText('after', HELP)
    .action(run);
}

export function auditCheckExportCommand(): Command {
  return new Command('check-export')
    .description('check an export against its manifest')
    .argument('<file>', 'the export')
    .option('--manifest <file>', 'manifest of the export (default: FILE.manifest.json)')
    .option('--json', 'print the manifest as JSON')
    .addHelpText('after', CHECK_HELP)
    .action(async (file: string, options: { manifest?: string; json?: boolean }) => {
      const path = options.manifest ?? manifestPath(file);
      const manifest = readManifest(await readFile(path, 'utf8').catch(rejectUnreadable(path)), path);
      const check = new ExportCheck();
      try {
        for await (const chunk of createReadStream(file)) check.push(chunk as Buffer);
      } catch (error) {
        rejectUnreadable(file)(error);
      }
      check.compare(manifest);
      if (options.json) print(manifest, options.json);
      else process.stdout.write(`${summary(manifest)}\n`);
    });
}

function manifestPath(file: string): string {
  return `${file}.manifest.json`;
}

function rejectUnreadable(file: string): (error: unknown) => never {
  return (error) => {
    throw new ClientError(`The file ${file} cannot be read (${codeOrNameOf(error)}).`);
  };
}

function rejectUnwritable(file: string): (error: unknown) => never {
  return (error) => {
    throw new ClientError(`The file ${file} cannot be written (${codeOrNameOf(error)}).`);
  };
}

async function run({ format, what, filter, out, manifest: kept, ...proxy }: ExportOptions): Promise<void> {
  const query = new URLSearchParams([...filter, ['format', format], ['what', what]]);
  const path = `/v1/audit/export?${query.toString()}`;
  const { response } = await streamFromProxy(proxy, {
    path,
    demoKey: 'auditor',
    afterFailure: 'Nothing was written. Run the export again.',
  });
  if (out === undefined) {
    const manifest = await copy(proxy, response, writeOut);
    if (kept !== undefined) await writeManifest(kept, manifest);
    process.stderr.write(`${summary(manifest)}\n`);
    return;
  }
  const partial = `${out}.partial`;
  const file = await openFile(partial, 'w', 0o600).catch(rejectUnwritable(partial));
  try {
    const manifest = await writeExport(file, proxy, response);
    await writeManifest(kept ?? manifestPath(out), manifest);
    await rename(partial, out);
    process.stderr.write(`${out}: ${summary(manifest)}\n`);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeManifest(file: string, manifest: ManifestRecord): Promise<void> {
  await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 }).catch(
    rejectUnwritable(file),
  );
}

async function writeExport(
  file: FileHandle,
  proxy: ProxyOptions,
  response: Response,
): Promise<ManifestRecord> {
  try {
    const manifest = await copy(proxy, response, (chunk) => file.writeFile(chunk));
    await file.sync();
    return manifest;
  } finally {
    await file.close();
  }
}

/** @throws ClientError if the export was interrupted, or does not match its manifest. */
async function copy(
  proxy: ProxyOptions,
  { body, headers }: Response,
  write: (chunk: Buffer) => Promise<void>,
): Promise<ManifestRecord> {
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
    if (error instanceof ClientError || 'code' in (error as object)) throw error; // an error of the file
    throw new ClientError(`The export was interrupted after ${check.rows} rows. Run it again.`);
  } finally {
    progress.end();
  }
  const manifest = await fetchManifest(proxy, headers);
  check.compare(manifest);
  return manifest;
}

/** Fetches the manifest in the header `Link`. Follows only paths of the proxy, because it sends the key. */
async function fetchManifest(proxy: ProxyOptions, headers: Headers): Promise<ManifestRecord> {
  const [, path] = /^<(\/v1\/[\w/-]+)>; *rel="describedby"/.exec(headers.get('link') ?? '') ?? [];
  if (path === undefined)
    throw new ClientError('The response has no link to a manifest, so the export is unchecked. Check --url.');
  const afterFailure = 'The export could not be checked against its manifest. Run it again.';
  const answer = await callProxy(proxy, { path, demoKey: 'auditor', afterFailure });
  return readManifest(JSON.stringify(answer), path);
}

function summary({ rows, what, sha256, checkpoint }: ManifestRecord): string {
  const sealed = checkpoint ? `log checkpoint at ${checkpoint.size} records` : 'no checkpoint';
  return `${rows} ${what}, complete; SHA-256 ${sha256}; ${sealed}`;
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BRACE = 0x7b;

/** Reads an export as a stream and compares it with its manifest. */
class ExportCheck {
  private readonly hash = createHash('sha256');
  private lines = 0;
  private quoted = false;
  private isCsv: boolean | undefined;

  /** Rows so far, including the header of a CSV file. */
  get rows(): number {
    return this.lines;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.isCsv ??= chunk[0] !== BRACE;
    this.count(chunk);
    this.hash.update(chunk);
  }

  /** @throws ClientError with the difference between the file and the manifest. */
  compare(manifest: ManifestRecord): void {
    const rows = this.lines - (manifest.format === 'csv' ? 1 : 0);
    if (rows !== manifest.rows) {
      throw new ClientError(
        `The export has ${Math.max(0, rows)} rows, but its manifest says ${manifest.rows}.`,
      );
    }
    if (this.hash.digest('hex') !== manifest.sha256) {
      throw new ClientError('The export was changed: its SHA-256 differs from the one in its manifest.');
    }
  }

  /** Counts rows. A CSV row continues on the next line if the line ends inside quotes. */
  private count(bytes: Buffer): void {
    for (const byte of bytes) {
      if (byte === QUOTE && this.isCsv) this.quoted = !this.quoted;
      else if (byte === NEWLINE && !this.quoted) this.lines += 1;
    }
  }
}

/** @throws ClientError unless the text is a manifest. */
function readManifest(text: string, source: string): ManifestRecord {
  try {
    const manifest = readStrictJson(text) as Partial<ManifestRecord> | null;
    if (typeof manifest?.rows === 'number' && typeof manifest.sha256 === 'string')
      return manifest as ManifestRecord;
  } catch {
    // reported below
  }
  throw new ClientError(`${source} is not the manifest of an export.`);
}
