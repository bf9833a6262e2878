import { Client } from 'pg';
import { Author } from '../../access/auth/call';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { LOCKS } from '../../platform/database/locks';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { asRecorded } from '../../platform/privacy/recorded';
import { isRecordOf, recordedAccount } from '../records/accounts';
import { authorSql } from '../records/author';
import { wakeWorkers } from './worker-tasks';

/** A read that is about to begin. */
export interface NewSourceRead {
  /** The upstream account of the source. */
  account: string;
  source: 'transactions' | 'changes' | 'batch' | 'transaction' | 'wallets' | 'statement';
  /** The batch_ref or upstream_id to read, or the file name of the statement. */
  subject: string | null;
  /** Lower bound of the kept transactions. Null keeps all. */
  from: Date | null;
  /** Upper bound, exclusive. Null keeps all. */
  to: Date | null;
  /** For a statement: the column of each field. */
  mapping: object | null;
  /** The run, call in doubt or event that caused the read. Null without a cause. */
  causedBy: string | null;
  /** Null for a read by the proxy itself. */
  by: Author | null;
}

/** The end of a read. */
export interface NewSourceReadEnd {
  readId: string;
  complete: boolean;
  /** Failure code. Null if the read is complete. */
  failure: string | null;
  httpStatus: number | null;
  bytes: number;
  /** SHA-256 of the received bytes. */
  sha256: Buffer | null;
  rows: number;
  kept: number;
  faults: number;
  /** The hashes of its rows (evidenceOf). Null if the kept rows are not known. */
  evidence: string | null;
}

/**
 * Records the start of a read. Nothing may be read before.
 * @returns the ID of the read.
 */
export async function insertSourceRead(
  prisma: PrismaService,
  { account, source, subject, from, to, mapping, causedBy, by }: NewSourceRead,
): Promise<string> {
  const id = newId();
  await prisma.$executeRaw`
    INSERT INTO source_read (id, account, source, subject, from_at, to_at, mapping, caused_by,
      client_id, key_id, actor)
    VALUES (${id}::uuid, ${recordedAccount(account)}, ${source}, ${asRecorded(subject)}, ${from}, ${to},
      ${mapping && JSON.stringify(mapping)}::json, ${causedBy}::uuid, ${authorSql(by)})`;
  return id;
}

/** Records the end of a read. */
export async function insertSourceReadEnd(
  tx: Prisma.TransactionClient,
  { readId, complete, failure, httpStatus, bytes, sha256, rows, kept, faults, evidence }: NewSourceReadEnd,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO source_read_end (read_id, complete, failure, http_status, bytes, sha256, rows, kept, faults,
      evidence)
    VALUES (${readId}::uuid, ${complete}, ${failure}, ${httpStatus}, ${bytes}, ${sha256}, ${rows}, ${kept},
      ${faults}, ${evidence}::json)`;
}

/**
 * Ends a complete statement of an account. Marks it incomplete if the same bytes were read with the same
 * mapping before.
 * @returns the ID of the read that counts: this one, or the first.
 */
export async function insertStatementEnd(
  prisma: PrismaService,
  end: NewSourceReadEnd,
  { account, mapping }: { account: string; mapping: object },
): Promise<string> {
  return prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LOCKS.statement}::bigint)`;
    const [first] = await tx.$queryRaw<{ id: string }[]>`
      SELECT r.id FROM source_read_end e JOIN source_read r ON r.id = e.read_id
      WHERE e.sha256 = ${end.sha256} AND e.complete AND r.source = 'statement'
        AND r.mapping::text = ${JSON.stringify(mapping)} AND ${isRecordOf('r.account', account)} LIMIT 1`;
    await insertSourceReadEnd(tx, first ? { ...end, complete: false, failure: 'already_imported' } : end);
    return first?.id ?? end.readId;
  });
}

/** A reconciliation run for a worker. */
export interface NewRun {
  /** UUIDv7. */
  id: string;
  /** The upstream account to compare. */
  account: string;
  from: Date;
  to: Date;
  asOf: Date;
  /** Whether the run is historical and changes no finding's state. */
  historical: boolean;
  /** The statement or earlier listing to compare with. Null reads a new listing. */
  readId: string | null;
  settings: object;
  /** Its tick of the schedule. Null without one. */
  dueAt: Date | null;
  startedAt: Date;
  /** Null for a run by the schedule. */
  by: Author | null;
}

/**
 * Records the start of a run and wakes the workers.
 * @returns false if the account's run of this tick exists.
 */
export async function insertRun(tx: Prisma.TransactionClient, run: NewRun): Promise<boolean> {
  const { id, from, to, asOf, historical, readId, settings, dueAt, startedAt, by } = run;
  const account = recordedAccount(run.account);
  const written = await tx.$executeRaw`
    INSERT INTO reconciliation_run (id, from_at, to_at, as_of, historical, read_id, settings, account, due_at,
      started_at, client_id, key_id, actor)
    VALUES (${id}::uuid, ${from}::timestamptz, ${to}::timestamptz, ${asOf}::timestamptz, ${historical},
      ${readId}::uuid, ${JSON.stringify(settings)}::json, ${account}, ${dueAt}::timestamptz,
      ${startedAt}::timestamptz, ${authorSql(by)})
    ON CONFLICT DO NOTHING`;
  await wakeWorkers(tx, 'runs');
  return written === 1;
}

/**
 * Records that a run has no result, on the connection with its locks, to keep other workers out.
 * @param failure the reason, in a sentence that names the remedy.
 */
export async function insertRunFailure(
  db: Client,
  runId: string,
  readId: string | null,
  failure: string,
): Promise<void> {
  await db.query(
    `INSERT INTO reconciliation_run_end (run_id, result, failure, read_id) VALUES ($1, 'failed', $2, $3)
     ON CONFLICT (run_id) DO NOTHING`,
    [runId, failure, readId],
  );
}

/** Progress of a run: step, amount done and total. Null if unknown. */
export interface RunProgress {
  step: string;
  done: number;
  of: number | null;
}

/** Writes the progress of a run. The progress is not a record and may be lost. */
export async function writeRunProgress(
  prisma: PrismaService,
  runId: string,
  { step, done, of }: RunProgress,
): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO reconciliation_progress (run_id, step, done, of)
    VALUES (${runId}::uuid, ${step}, ${done}, ${of})
    ON CONFLICT (run_id) DO UPDATE SET step = excluded.step, done = excluded.done, of = excluded.of,
      changed_at = clock_timestamp()`;
}
