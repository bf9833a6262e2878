import { Injectable } from '@nestjs/common';
import { all } from '../../history/search/matching';
import { namesRecipients } from '../../journal/reconciliation/finding-steps';
import { NewRun, RunProgress } from '../../journal/reconciliation/reconciliations';
import { isRecordOf } from '../../journal/records/accounts';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { LOCKS } from '../../platform/database/locks';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { RunSettings } from '../book/plan';
import { TotalsRecord } from '../matching/totals.dto';

export const RESULTS = ['clean', 'clean_with_doubts', 'incomplete', 'findings', 'failed'] as const;
export type Result = (typeof RESULTS)[number];

/** A stored run. Its reading is the statement, or the earlier listing, that it compares with. */
export interface Run extends Omit<NewRun, 'settings' | 'by'> {
  ofStatement: boolean;
  /** Whether the run compares recipients named by the statement. Its totals then reveal who was paid. */
  comparesPeople: boolean;
  settings: RunSettings;
  clientId: string | null;
  clientName: string | null;
  keyId: string | null;
  actor: string | null;
  end: RunEnd | null;
  endedAt: Date | null;
  progress: RunProgress | null;
  /** Whether a worker holds it. */
  held: boolean;
}

/** Age after which a queued run is abandoned, in ms. A new request for the period then starts a new run. */
const TAKEN_UP_FOR_MS = 24 * 3_600_000;

/** Maximum number of current runs. More exist only after a long time without a worker. */
const MOST_CURRENT = 20;

/** Returns whether a run waits for a worker to begin or continue it. */
export function isQueued({ end, held, dueAt, startedAt }: Run): boolean {
  return !end && !held && (dueAt !== null || startedAt.getTime() > clock.nowMs() - TAKEN_UP_FOR_MS);
}

interface RunEnd {
  result: Result;
  failure: string | null;
  readId: string | null;
  totals: TotalsRecord | null;
}

/** Whether the connection of a run is alive. See `RunConnection.lockRun`. */
const IS_HELD = Prisma.sql`EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) | objid::bigint = hashtextextended(r.id::text, ${LOCKS.run}::bigint))`;

const RUNS = Prisma.sql`
  SELECT r.id, coalesce(r.account, ${MAIN_ACCOUNT}) AS account, r.from_at AS "from", r.to_at AS "to",
    r.as_of AS "asOf", r.historical,
    r.read_id AS "readId", coalesce(s.source = 'statement', false) AS "ofStatement",
    ${namesRecipients('s')} AS "comparesPeople", r.settings,
    r.due_at AS "dueAt", r.started_at AS "startedAt",
    r.client_id AS "clientId", c.name AS "clientName", r.key_id AS "keyId", r.actor,
    CASE WHEN e.run_id IS NOT NULL THEN json_build_object(
      'result', e.result, 'failure', e.failure, 'readId', e.read_id,
      'totals', e.totals) END AS "end", e.ended_at AS "endedAt",
    CASE WHEN p.run_id IS NOT NULL
      THEN json_build_object('step', p.step, 'done', p.done, 'of', p.of) END AS progress,
    CASE WHEN e.run_id IS NULL THEN ${IS_HELD} ELSE false END AS held
  FROM reconciliation_run r
  LEFT JOIN reconciliation_run_end e ON e.run_id = r.id
  LEFT JOIN reconciliation_progress p ON p.run_id = r.id
  LEFT JOIN source_read s ON s.id = r.read_id
  LEFT JOIN client c ON c.id = r.client_id`;

/** The filters of a list of runs, newest first. */
interface RunFilter {
  id?: string;
  ids?: string[];
  account?: string | undefined;
  below?: string | undefined;
  result?: string | undefined;
  ended?: false;
  dueAt?: Date;
  /** False omits the runs that compare people. */
  seesPeople?: boolean;
}

type QueryRunner = Pick<ReaderPrisma, '$queryRaw'>;

/** Reads runs, whichever instance carries them out. */
@Injectable()
export class RunReader {
  constructor(private readonly prisma: ReaderPrisma) {}

  async one(id: string): Promise<Run | undefined> {
    return (await this.list({ id }, 1))[0];
  }

  /** Returns whether a statement names recipients, which a run over it then compares. */
  async namesRecipients(statementId: string): Promise<boolean> {
    const [row] = await this.prisma.$queryRaw<{ named: boolean }[]>`
      SELECT ${namesRecipients('s')} AS named FROM source_read s WHERE s.id = ${statementId}::uuid`;
    return row?.named ?? false;
  }

  /** Returns the runs that are in progress or queued, newest first. */
  async current(db: QueryRunner): Promise<Run[]> {
    const runs = await this.list({ ended: false }, MOST_CURRENT, db);
    return runs.filter((run) => !run.end && (run.held || isQueued(run)));
  }

  /** Lists runs, newest first. */
  async list(filter: RunFilter, most: number, db: QueryRunner = this.prisma): Promise<Run[]> {
    const rows = await this.read(filter, most, db);
    // Read the locks after the rows. Otherwise a run that ended in between would look interrupted.
    const unclear = rows.filter(({ end, held }) => !end && !held).map(({ id }) => id);
    if (unclear.length === 0) return rows;
    const again = new Map(
      (await this.read({ ids: unclear }, unclear.length, db)).map((run) => [run.id, run]),
    );
    return rows.map((run) => again.get(run.id) ?? run);
  }

  private async read(filter: RunFilter, most: number, db: QueryRunner): Promise<Run[]> {
    const { id, ids, account, below, result, ended, dueAt, seesPeople = true } = filter;
    const conditions = [
      ...(id === undefined ? [] : [Prisma.sql`r.id = ${id}::uuid`]),
      ...(ids === undefined ? [] : [Prisma.sql`r.id = ANY (${ids}::uuid[])`]),
      ...(account === undefined ? [] : [isRecordOf('r.account', account)]),
      ...(below === undefined ? [] : [Prisma.sql`r.id < ${below}::uuid`]),
      ...(result === undefined ? [] : [Prisma.sql`e.result = ${result}`]),
      ...(ended === undefined ? [] : [Prisma.sql`e.run_id IS NULL`]),
      ...(dueAt === undefined ? [] : [Prisma.sql`r.due_at = ${dueAt}::timestamptz`]),
      ...(seesPeople ? [] : [Prisma.sql`NOT ${namesRecipients('s')}`]),
    ];
    return db.$queryRaw<Run[]>`
      ${RUNS} WHERE ${all(conditions)} ORDER BY r.id DESC LIMIT ${most}`;
  }
}
