import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { Client } from 'pg';
import { ClientError } from '../../access/clients/client-error';
import { knownLogKeyOf, logRingOf } from '../../history/log/log-key';
import { KeyRing, ringOf, splitNotes, verifierOf } from '../../history/log/note';
import { Fault } from '../../history/log/verify/fault';
import { Report, verifyLog, VerifyRequest } from '../../history/log/verify/verify';
import { Config, loadConfigOf, StartError } from '../../platform/config/config';
import { ServerClient } from '../../platform/database/servers/server-client';
import { withDatabase } from '../database/database';
import { Progress } from '../terminal';

/** While one connection reads the next leaves, those of the others are hashed. */
const CONNECTIONS = 3;

/**
 * The exit code for a fault. It differs from 1, the code of a command without a result, so that alarms can
 * tell them apart.
 */
const TAMPERED = 3;

const EXAMPLES = `
Recomputes the whole log. The command compares each record, body, and recipient with its leaf, the
leaves with every signed checkpoint, and the checkpoints with the copies that a witness keeps
outside the database. It reports the first fault and where it is.

Exit codes: 0 if all records match the log, 3 if something was tampered with, 1 if there is no result.

The log's key may be changed. An old verifier key is enough: the command learns the next keys from
checkpoints that it signed.

The result relies on three things: the key, the copies of the checkpoints (kept where the database's
administrators cannot write), and a database server that returns what it stores. If you do not trust
the server, verify a backup on another one.

Examples:
  npm run cli -- audit verify
  npm run cli -- audit verify --checkpoint /media/witness/checkpoints --key payout-proxy+0a1b2c3d+AdH…
  npm run cli -- audit verify --json`;

interface VerifyOptions {
  checkpoint?: string;
  key?: string;
  json?: boolean;
}

export function auditVerifyCommand(): Command {
  return new Command('verify')
    .description('recompute the log and report the first fault')
    .option(
      '--checkpoint <file>',
      "witness's copies of the checkpoints (default: CHECKPOINT_FILE, if it exists)",
    )
    .option(
      '--key <key>',
      "verifier key of the log, or a file with one per line (default: the proxy's own keys). Later keys " +
        'are learned from the log',
    )
    .option('--json', 'print the report as JSON')
    .addHelpText('after', EXAMPLES)
    .action((options: VerifyOptions) =>
      withDatabase(async ({ url }) => {
        const config = loadConfigOf('database');
        const progress = new Progress('records');
        const request = {
          ring: ringFrom(options.key, config),
          notes: notesFrom(options.checkpoint, config),
          onProgress: (done: number, of: number) => progress.at(done, of),
        };
        const report = await verifyAt(url, request).finally(() => progress.end());
        process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : forPeople(report));
        if (!report.ok) process.exitCode = TAMPERED;
      }),
    );
}

/** Verifies on connections with the same snapshot. Later records are left out. */
async function verifyAt(url: string, request: VerifyRequest): Promise<Report> {
  const clients: Client[] = [];
  try {
    let snapshot: string | undefined;
    for (let each = 0; each < CONNECTIONS; each += 1) {
      const client = new ServerClient({ connectionString: url, connectionTimeoutMillis: 10_000 });
      clients.push(client);
      await client.connect();
      if (snapshot === undefined) await bringIndexUpToDate(client);
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      if (snapshot !== undefined) await client.query(`SET TRANSACTION SNAPSHOT '${snapshot}'`);
      snapshot ??= (await client.query<{ id: string }>('SELECT pg_export_snapshot() AS id')).rows[0]?.id;
    }
    return await verifyLog(clients as [Client, ...Client[]], request);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/** Indexes what a stopped or killed proxy left behind. A backup may be read-only, and then stays as it is. */
async function bringIndexUpToDate(client: Client): Promise<void> {
  for (let state = 'more'; state === 'more';) {
    const asked = client.query<{ state: string }>('SELECT index_calls(5000) AS state');
    state = await asked.then(({ rows }) => rows[0]?.state ?? '').catch(() => '');
    if (state === 'unbuilt') await client.query('SELECT build_search_indexes()').catch(() => undefined);
  }
}

function ringFrom(given: string | undefined, config: Config): KeyRing {
  if (given === undefined) {
    const logSigningKey = knownLogKeyOf(config);
    if (logSigningKey) return logRingOf({ ...config, logSigningKey });
    throw new StartError(
      'The key of the log is not known. Give --key, LOG_SIGNING_KEY, or the DATA_DIR where the proxy ' +
        'keeps its own key.',
    );
  }
  try {
    const keys = (existsSync(given) ? readFileSync(given, 'utf8') : given)
      .split(/[\s,]+/)
      .filter((key) => key !== '');
    return ringOf(keys.map(verifierOf));
  } catch (error) {
    throw new ClientError(`The value of --key cannot be used: ${(error as Error).message}`);
  }
}

function notesFrom(given: string | undefined, { checkpointFile }: Config): VerifyRequest['notes'] {
  if (given !== undefined && !existsSync(given)) throw new ClientError(`The file ${given} does not exist.`);
  const file = given ?? checkpointFile;
  if (file === undefined || !existsSync(file)) return [];
  const notes = splitNotes(readFileSync(file, 'utf8'));
  // The last note may be incomplete after a crash or during a write.
  if (notes.length > 1 && !/\n\n(?:\u2014 [^\n]+\n)+$/.test(notes.at(-1)!)) notes.pop();
  return notes.map((note, place) => ({ note, source: `note ${place + 1} of ${file}` }));
}

function forPeople(report: Report): string {
  const {
    fault,
    records,
    checkpoints,
    witnessed,
    unsealed,
    pruned,
    erasures,
    prunings,
    search_index,
    seconds,
  } = report;
  const rate =
    `${records.toLocaleString('en')} records in ${seconds} s, ` +
    `${report.records_per_second.toLocaleString('en')}/s`;
  const lines = fault
    ? ['VERIFICATION FAILED', ...said(fault), '']
    : ['verified: all records match the log', ''];
  lines.push(
    `checked        ${rate}`,
    `checkpoints    ${checkpoints}, and ${witnessed} copies of a ` +
      `witness${witnessed === 0 ? '; without copies, missing newest records cannot be detected' : ''}`,
    `not yet sealed ${unsealed.count}${unsealed.oldest === null ? '' : `, oldest from ${unsealed.oldest}`}`,
    `deleted        ${pruned} records in ${prunings} prunings, and people in ${erasures} erasures`,
    `search index   ${search_index ? 'matches the records' : 'not compared; it is being rebuilt, or the verification failed before'}`,
  );
  if (report.root !== null) lines.push(`root           ${report.root}`);
  return `${lines.join('\n')}\n`;
}

function said({ meaning, leaf, to_leaf, kind, record_id, received_at }: Fault): string[] {
  const leaves =
    leaf === undefined ? undefined : `leaf ${leaf}${to_leaf === undefined ? '' : ` to ${to_leaf}`}`;
  const record = [kind, record_id].filter(Boolean).join(' ');
  const place = [leaves, record, received_at && `received ${received_at}`].filter(Boolean).join(', ');
  return [...(place === '' ? [] : [`at ${place}:`]), meaning];
}
