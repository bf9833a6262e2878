import { Client } from 'pg';
import { PrismaService } from '../platform/database/prisma.service';

/** Who asked for a run; null: the schedule. */
export type RunAuthor = { clientId: string; keyId: string; actor: string | null } | null;

/** A run of the reconciliation as it begins. */
export interface NewRun {
  /** UUIDv7. */
  id: string;
  from: Date;
  to: Date;
  asOf: Date;
  /** As of then: it changes the state of no finding. */
  historical: boolean;
  /** The statement, or the earlier look at the upstream, that it compares with; null: it asks anew. */
  readId: string | null;
  settings: object;
  /** The tick of the schedule that it is for. */
  dueAt: Date | null;
  startedAt: Date;
  by: RunAuthor;
}

/**
 * Records that a run begins, on the connection that holds its locks.
 * @returns false if another instance has begun the run of this tick.
 */
export async function insertRun(db: Client, run: NewRun): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO reconciliation_run (id, from_at, to_at, as_of, historical, read_id, settings, due_at, started_at, client_id, key_id, actor)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (due_at) DO NOTHING`,
    [
      run.id,
      run.from,
      run.to,
      run.asOf,
      run.historical,
      run.readId,
      JSON.stringify(run.settings),
      run.dueAt,
      run.startedAt,
      run.by?.clientId ?? null,
      run.by?.keyId ?? null,
      run.by?.actor ?? null,
    ],
  );
  return rowCount === 1;
}

/**
 * Records that a run has no result, on the connection that holds its locks: nobody else can be at work on it.
 * @param failure why, in a sentence that says what to do.
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

/** How far a run is: the step, how much of it is done, and of how much; null: not known. */
export interface RunProgress {
  step: string;
  done: number;
  of: number | null;
}

/** Says how far a run is. No record: it may be lost. */
export async function writeRunProgress(
  prisma: PrismaService,
  runId: string,
  { step, done, of }: RunProgress,
): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO reconciliation_progress (run_id, step, done, of) VALUES (${runId}::uuid, ${step}, ${done}, ${of})
    ON CONFLICT (run_id) DO UPDATE SET step = excluded.step, done = excluded.done, of = excluded.of, changed_at = clock_timestamp()`;
}
