import { Inject, Injectable, Logger } from '@nestjs/common';
import { Cron } from 'croner';
import { clock } from '../../platform/database/clock';
import { accountNames } from '../../platform/config/upstream-accounts';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { PrismaService } from '../../platform/database/prisma.service';
import { uuidFloor } from '../../platform/database/uuid';
import { Problem } from '../../platform/errors/problem';
import { codeOf } from '../../platform/errors/error-code';
import { dayBefore, RunsService } from './runs.service';
import { RunReader } from './run-reader';
import { RunningConfig, SETTINGS } from '../../platform/config/config';

/** The interval at which missed runs are looked for, between two scheduled times. */
const CHECK_EVERY_MS = 60_000;

/**
 * Begins a run of the previous day for each account at each time of RECONCILIATION_SCHEDULE. The rows of the runs are
 * the queue: a run that is due and missing is begun, whenever that is noticed.
 */
@Injectable()
export class ScheduleService implements Job {
  readonly name = 'schedule';
  private readonly logger = new Logger('Reconciliation');
  private readonly pattern: string | undefined;
  private readonly accounts: string[];

  constructor(
    @Inject(SETTINGS) settings: RunningConfig,
    private readonly prisma: PrismaService,
    private readonly reader: RunReader,
    private readonly runs: RunsService,
  ) {
    this.pattern = settings.reconciliation.schedule;
    this.accounts = accountNames(settings);
  }

  async run(turns: Turns): Promise<void> {
    while (!turns.areOver) {
      const now = clock.now();
      if (this.pattern !== undefined) await this.checkAll(now);
      const next = Math.min(this.nextTick(now), now.getTime() + CHECK_EVERY_MS);
      await turns.wait(Math.max(0, next - clock.nowMs()));
    }
  }

  /** Begins the runs that are due. What fails for one account does not keep the others waiting. */
  async checkAll(now: Date): Promise<void> {
    for (const account of this.accounts) await this.checkSafely(account, now);
  }

  /** Begins the run that is due. Only the newest scheduled time counts, as a run compares a whole day. */
  async check(account: string, now: Date): Promise<void> {
    const due = this.newestTick(now);
    if (due && (await this.isMissing(account, due))) {
      await this.runs.begin({ account, ...dayBefore(due), asOf: null, statementId: null }, null, due);
    }
  }

  private nextTick(after: Date): number {
    if (this.pattern === undefined) return Infinity;
    const ticks = new Cron(this.pattern, { timezone: 'UTC', paused: true });
    return ticks.nextRun(after)?.getTime() ?? Infinity;
  }

  private newestTick(now: Date): Date | undefined {
    if (this.pattern === undefined) return undefined;
    const ticks = new Cron(this.pattern, { timezone: 'UTC', paused: true });
    return ticks.previousRuns(1, new Date(now.getTime() + 1))[0]; // A scheduled time that is now counts.
  }

  /** A proxy that had no history at a scheduled time has missed nothing. */
  private async isMissing(account: string, due: Date): Promise<boolean> {
    if ((await this.reader.list({ account, dueAt: due }, 1)).length > 0) return false;
    const first = await this.prisma.intent.findFirst({ where: { id: { lt: uuidFloor(due) } }, select: { id: true } });
    return first !== null;
  }

  private async checkSafely(account: string, now: Date): Promise<void> {
    try {
      await this.check(account, now);
    } catch (error) {
      // The next check follows in a minute, and a missing run is visible in the list of runs.
      const isExpected = error instanceof Problem && error.code !== 'internal_error';
      if (!isExpected)
        this.logger.warn({ account, code: codeOf(error) }, 'schedule check failed, will retry in a minute');
    }
  }
}
