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

/** Between two ticks it is looked, so often, whether a run that is due was missed, or cut off. */
const CHECK_EVERY_MS = 60_000;

/** Cut-off runs that are looked at: more were never cut off at once. */
const MOST = 20;

/**
 * Compares the day before at each tick of RECONCILIATION_SCHEDULE. The rows of the runs are the queue: what is due and is not
 * there is begun, what was cut off is taken up again, by whichever instance looks first.
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

  /** Begins what is due by now, and takes up what was cut off. Only the newest tick counts: a run compares a whole day. */
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
    return ticks.previousRuns(1, new Date(now.getTime() + 1))[0]; // a tick that is now counts
  }

  /** A proxy that had no history at a tick has missed nothing. */
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
      // The next check is a minute later, and whoever watches the runs sees that one is missing.
      const { code } = error as { code?: string };
      const isExpected = error instanceof Problem && error.code !== 'internal_error';
      if (!isExpected)
        this.logger.warn({ code }, 'the schedule of the runs could not be checked; trying again in a minute');
    }
  }
}
