import { Injectable, Logger, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Cron } from 'croner';
import { Loaded } from '../../platform/config/config.module';
import { PrismaService } from '../../platform/database/prisma.service';
import { uuidFloor } from '../../platform/database/uuid';
import { Problem } from '../../platform/errors/problem';
import { dayBefore } from './question';
import { RunReader } from './run-reader';
import { RunsService } from './runs.service';

/** The interval at which missed and interrupted runs are looked for, between two scheduled times. */
const CHECK_EVERY_MS = 60_000;

/** The most interrupted runs that are looked at. More are never interrupted at once. */
const MOST = 20;

/**
 * Compares the previous day at each time of RECONCILIATION_SCHEDULE. The rows of the runs are the queue. Whichever
 * instance looks first starts a run that is due and missing, and continues an interrupted one.
 */
@Injectable()
export class ScheduleService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Reconciliation');
  private readonly pattern: string | undefined;
  private ticks: Cron | undefined;
  private timer: NodeJS.Timeout | undefined;
  private checking: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    config: ConfigService<Loaded, true>,
    private readonly prisma: PrismaService,
    private readonly reader: RunReader,
    private readonly runs: RunsService,
  ) {
    this.pattern = config.get('settings', { infer: true }).reconciliation.schedule;
  }

  onApplicationBootstrap(): void {
    if (this.pattern === undefined) return;
    const check = () => {
      this.checking = this.checking.then(() => this.checkSafely());
    };
    this.ticks = new Cron(this.pattern, { timezone: 'UTC', unref: true }, check);
    this.timer = setInterval(check, CHECK_EVERY_MS).unref();
    check();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    this.ticks?.stop();
    clearInterval(this.timer);
    await this.checking;
  }

  /**
   * Starts the run that is due and continues interrupted runs. Only the newest scheduled time counts, as a run compares
   * a whole day.
   */
  async check(now: Date): Promise<void> {
    const due = this.newestTick(now);
    if (due && (await this.isMissing(due))) {
      await this.runs.begin({ ...dayBefore(due), asOf: null, statementId: null }, null, due);
    }
    for (const run of await this.reader.list({ ended: false, scheduled: true }, MOST)) {
      if (!run.held) await this.runs.takeUp(run);
    }
  }

  private newestTick(now: Date): Date | undefined {
    if (this.pattern === undefined) return undefined;
    const ticks = new Cron(this.pattern, { timezone: 'UTC', paused: true });
    return ticks.previousRuns(1, new Date(now.getTime() + 1))[0]; // A scheduled time that is now counts.
  }

  /** A proxy that had no history at a scheduled time has missed nothing. */
  private async isMissing(due: Date): Promise<boolean> {
    if ((await this.reader.list({ dueAt: due }, 1)).length > 0) return false;
    const first = await this.prisma.intent.findFirst({ where: { id: { lt: uuidFloor(due) } }, select: { id: true } });
    return first !== null;
  }

  private async checkSafely(): Promise<void> {
    if (this.stopped) return;
    try {
      await this.check(new Date());
    } catch (error) {
      // The next check follows in a minute, and a missing run is visible in the list of runs.
      const { code } = error as { code?: string };
      const isExpected = error instanceof Problem && error.code !== 'internal_error';
      if (!isExpected) this.logger.warn({ code }, 'schedule check failed, will retry in a minute');
    }
  }
}
