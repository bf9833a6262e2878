import { Client } from 'pg';
import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { Author } from '../access/auth/author';
import { authorSql } from './author';
import { recordedAccount } from './recorded-account';
import { wakeWorkers } from './worker-tasks';

/** A reconciliation run that a worker is to carry out. */
export interface NewRun {
  /** UUIDv7. */
  id: string;
  /** The upstream account to compare. */
  account: string;
  from: Date;
  to: Date;
  asOf: Date;
  /** Whether the run is historical. It then changes the state of no finding. */
  historical: boolean;
  /** The statement or the earlier listing to compare with. Null reads a new listing. */
  readId: string | null;
  settings: object;
  /** The tick of the schedule that it is for. */
  dueAt: Date | null;
  startedAt: Date;
  /** Null for the schedule. */
  by: Author | null;
}

/**
 * Records that a run begins, and tells the workers.
 * @returns false if the account's run of this tick was begun before.
 */
export async function insertRun(tx: Prisma.TransactionClient, run: NewRun): Promise<boolean> {
  const { id, from, to, asOf, historical, readId, settings, dueAt, startedAt, by } = run;
  const account = recordedAccount(run.account);
  const [due, accountDue] = account === null ? [dueAt, null] : [null, dueAt];
  const written = await tx.$executeRaw`
    INSERT INTO reconciliation_run (id, from_at, to_at, as_of, historical, read_id, settings, account, due_at, account_due_at, started_at,
      client_id, key_id, actor)
    VALUES (${id}::uuid, ${from}::timestamptz, ${to}::timestamptz, ${asOf}::timestamptz, ${historical}, ${readId}::uuid,
      ${JSON.stringify(settings)}::json, ${account}, ${due}::timestamptz, ${accountDue}::timestamptz, ${startedAt}::timestamptz,
      ${authorSql(by)})
    ON CONFLICT DO NOTHING`;
  await wakeWorkers(tx, 'runs');
  return written === 1;
}

/**
 * Records that a run has no result, on the connection that holds its locks, so that nobody else can work on it.
 * @param failure the reason, in a sentence that says what to do.
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

/** The progress of a run: the step, the amount done, and the total. Null if unknown. */
export interface RunProgress {
  step: string;
  done: number;
  of: number | null;
}

/** Writes the progress of a run. It is no record, so it may be lost. */
export async function writeRunProgress(
  prisma: PrismaService,
  runId: string,
  { step, done, of }: RunProgress,
): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO reconciliation_progress (run_id, step, done, of) VALUES (${runId}::uuid, ${step}, ${done}, ${of})
    ON CONFLICT (run_id) DO UPDATE SET step = excluded.step, done = excluded.done, of = excluded.of, changed_at = clock_timestamp()`;
}
