import { Inject, Injectable } from '@nestjs/common';
import { newId } from '../../platform/database/ids';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { accountNames } from '../../platform/config/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/side-prisma';
import { LOCKS } from '../../platform/database/locks';
import { Problem } from '../../platform/errors/problem';
import { Author } from '../../access/auth/author';
import { insertRun } from '../../journal/reconciliations';
import { settingsOf } from '../matching/plan';
import { EarlierReadsService } from './earlier-reads';
import { checkQuestion, Question } from './question';
import { Run, RunReader } from './run-reader';

/**
 * The limit of runs that are in progress or queued, over all instances. Each run uses one database connection fully,
 * and payouts need the database too.
 */
const MAX_RUNS = 2;

/** The run that answers a request, and whether the same run was requested before. */
interface Begun {
  run: Run;
  isNew: boolean;
}

/** Begins runs. A worker carries them out. Over all instances, a period of an account has one run at a time. */
@Injectable()
export class RunsService {
  constructor(
    @Inject(SETTINGS) private readonly settings: RunningConfig,
    private readonly prisma: SidePrisma,
    private readonly reader: RunReader,
    private readonly earlier: EarlierReadsService,
  ) {}

  /**
   * Begins a run. Resolves once it is recorded, before a worker takes it.
   * @param by null for the schedule.
   * @param dueAt the time in the schedule that the run is for.
   * @throws Problem that explains why no run was begun.
   */
  async begin(question: Question, by: Author | null, dueAt: Date | null = null): Promise<Begun> {
    checkQuestion(question, await now(this.prisma), accountNames(this.settings));
    const settings = settingsOf(this.settings);
    const readId = await this.earlier.chosenFor(question, settings);
    return this.prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT pg_advisory_xact_lock(${LOCKS.beginningRun})::text`;
      const current = await this.reader.current(tx);
      const same = current.find((run) => isOfSamePeriod(run, question));
      if (same) return { run: asRequested(same, question, readId), isNew: false };
      if (current.length >= MAX_RUNS) throw new Problem('too_many_runs');
      const id = newId();
      const startedAt = await now(tx);
      const { account, from, to, asOf } = question;
      const times = { from, to, asOf: asOf ?? startedAt, historical: asOf !== null, dueAt, startedAt };
      const isNew = await insertRun(tx, { id, account, ...times, readId, settings, by });
      const [run] = await this.reader.list(isNew ? { id } : { account, dueAt: dueAt ?? startedAt }, 1, tx);
      if (!run) throw new Error('a run that was just recorded is not there');
      return { run, isNew };
    });
  }
}

function isOfSamePeriod(run: Run, { account, from, to }: Question): boolean {
  return run.account === account && isSame(run.from, from) && isSame(run.to, to);
}

/** @throws Problem if the run of the period is not the requested one. */
function asRequested(run: Run, { asOf, statementId }: Question, readId: string | null): Run {
  const sameThen = asOf === null ? !run.historical : run.historical && isSame(run.asOf, asOf);
  if (sameThen && run.readId === readId && run.ofStatement === (statementId !== null)) return run;
  const text = `Another run of this period is in progress, with the ID ${run.id}. Wait until it ends.`;
  throw new Problem('run_in_progress', { text });
}

function isSame(one: Date, other: Date): boolean {
  return one.getTime() === other.getTime();
}

/** Reads the clock of the records, to the millisecond, which is the precision of a Date. */
async function now(db: Pick<Prisma.TransactionClient, '$queryRaw'>): Promise<Date> {
  const [row] = await db.$queryRaw<[{ now: Date }]>`SELECT date_trunc('milliseconds', clock_timestamp()) AS now`;
  return row.now;
}
