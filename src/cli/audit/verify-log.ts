import { existsSync, readFileSync } from 'node:fs';
import { Client } from 'pg';
import { ClientError } from '../../access/clients/client-error';
import { knownLogKeyOf, logRingOf } from '../../history/log/log-key';
import { KeyRing, ringOf, splitNotes, verifierOf } from '../../history/log/note';
import { Fault } from '../../history/log/verify/fault';
import { Report, verifyLog, VerifyRequest } from '../../history/log/verify/verify';
import { indexAll, indexBatch, IndexState } from '../../journal/lookups/search-index';
import { Config, loadConfigOf, StartError } from '../../platform/config/config';
import { ServerClient } from '../../platform/database/servers/server-client';
import { withDatabase } from '../database/connection';
import { Progress } from '../terminal';

/** Connections of a verification. One reads the next leaves while those of the others are hashed. */
const CONNECTIONS = 3;

/** Exit code for a fault. Alarms distinguish it from 1, the code without a result. */
const TAMPERED = 3;

export interface VerifyOptions {
  checkpoint?: string;
  key?: string;
  json?: boolean;
}

/** Recomputes the log, and sets the exit code. */
export async function verify(options: VerifyOptions): Promise<void> {
  await withDatabase(async ({ url }) => {
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
  });
}

/** Verifies one snapshot on several connections. Excludes later records. */
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

/** Indexes the calls that a stopped or killed proxy had not indexed yet, unless the database is read-only. */
async function bringIndexUpToDate(client: Client): Promise<void> {
  const ask = async (text: string, values: unknown[]) => (await client.query<IndexState>(text, values)).rows;
  const left = await indexAll(() => indexBatch(ask)).catch(() => undefined);
  if (left?.state === 'unbuilt') await client.query('SELECT build_search_indexes()').catch(() => undefined);
}

function ringFrom(given: string | undefined, config: Config): KeyRing {
  if (given === undefined) {
    const logSigningKey = knownLogKeyOf(config);
    if (logSigningKey) return logRingOf({ ...config, logSigningKey });
    throw new StartError(
      "The key of the log is not known. Give --key, LOG_SIGNING_KEY, or the proxy's own DATA_DIR.",
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
  return notes.map((note, index) => ({ note, source: `note ${index + 1} of ${file}` }));
}

const NO_COPIES = '; without copies, missing newest records cannot be detected';
const NO_INDEX = 'not compared; it is being rebuilt, or the verification failed before';

function forPeople(report: Report): string {
  const { fault, checkpoints, witnessed, unsealed, pruned, erasures, prunings, search_index } = report;
  const [records, rate] = [report.records, report.records_per_second].map((count) =>
    count.toLocaleString('en'),
  );
  const lines = fault
    ? ['VERIFICATION FAILED', ...describeFault(fault), '']
    : ['verified: all records match the log', ''];
  lines.push(
    `checked        ${records} records in ${report.seconds} s, ${rate}/s`,
    `checkpoints    ${checkpoints}, and ${witnessed} copies of a witness${witnessed === 0 ? NO_COPIES : ''}`,
    `not yet sealed ${unsealed.count}${unsealed.oldest === null ? '' : `, oldest from ${unsealed.oldest}`}`,
    `deleted        ${pruned} records in ${prunings} prunings, and people in ${erasures} erasures`,
    `search index   ${search_index ? 'matches the records' : NO_INDEX}`,
  );
  if (report.root !== null) lines.push(`root           ${report.root}`);
  return `${lines.join('\n')}\n`;
}

function describeFault({ meaning, leaf, to_leaf, kind, record_id, received_at }: Fault): string[] {
  const leaves =
    leaf === undefined ? undefined : `leaf ${leaf}${to_leaf === undefined ? '' : ` to ${to_leaf}`}`;
  const record = [kind, record_id].filter(Boolean).join(' ');
  const position = [leaves, record, received_at && `received ${received_at}`].filter(Boolean).join(', ');
  return [...(position === '' ? [] : [`at ${position}:`]), meaning];
}
