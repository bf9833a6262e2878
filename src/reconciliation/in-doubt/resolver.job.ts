import { Inject, Injectable, Logger } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/prisma.service';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { answerRounds, roundsAskedFor } from '../../journal/worker-tasks';
import { ReadBackService } from './read-back.service';
import { ResolverService } from './resolver.service';
import { ResolverRound } from './rounds.dto';

/** How often a worker looks for tasks that it was not told of, such as those of a killed worker. */
const LOOK_EVERY_MS = 5_000;

/** The wait after an event. Other events of the same batch may follow. */
const SOON_MS = 1_000;

/** The least time between two rounds because of events, so that many events do not cause many listings. */
const HURRY_EVERY_MS = 10_000;

/**
 * Resolves the calls in doubt: every RESOLVER_EVERY_SECONDS, soon after an event of the upstream, and when somebody
 * asks for it.
 */
@Injectable()
export class ResolverJob implements Job {
  readonly name = 'resolve';
  private readonly logger = new Logger('Resolver');
  /** When the next round is due, by the monotonic clock. Infinity if rounds are only run on request. */
  private dueAt = 0;
  private hurriedAt = -Infinity;
  private isFailing = false;

  constructor(
    private readonly prisma: PrismaService,
    private readonly resolver: ResolverService,
    private readonly readBacks: ReadBackService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async run(turns: Turns): Promise<void> {
    this.dueAt = this.everyMs > 0 ? 0 : Infinity;
    let readingBack: Promise<void> | undefined;
    while (!turns.areOver) {
      // Beside the rounds, because the upstream may take long to answer.
      readingBack ??= this.readBack(turns).finally(() => (readingBack = undefined));
      await this.answerRequests(turns.signal);
      if (performance.now() >= this.dueAt && !turns.areOver) {
        this.dueAt = Infinity; // An event that arrives during the round may be newer than its listing.
        await this.resolver.run(turns.signal);
        this.dueAt = Math.min(this.dueAt, performance.now() + this.everyMs);
      }
      await turns.wait(Math.min(LOOK_EVERY_MS, Math.max(0, this.dueAt - performance.now())));
    }
    await readingBack;
    this.resolver.rest();
  }

  private get everyMs(): number {
    return this.settings.resolverEverySeconds * 1_000;
  }

  /** Runs one round for all who asked for one until now. */
  private async answerRequests(signal: AbortSignal): Promise<void> {
    try {
      const asked = await roundsAskedFor(this.prisma);
      this.isFailing = false;
      if (asked.length === 0 || signal.aborted) return;
      const round = await this.resolver.runOnce(signal).catch((err: unknown) => {
        this.logger.warn({ err }, 'requested resolver round failed');
        return failedRound();
      });
      if (!signal.aborted) await answerRounds(this.prisma, asked, round); // else another worker answers
    } catch (err) {
      if (!this.isFailing && !signal.aborted) this.logger.warn({ err }, 'tasks cannot be read, will retry');
      this.isFailing = true;
    }
  }

  private async readBack(turns: Turns): Promise<void> {
    await this.readBacks.run(turns.signal, () => this.pollSoon(turns)).catch(() => undefined); // tried again next turn
  }

  /** Polls recent calls in doubt soon, because an event arrived. It does so at most every ten seconds. */
  private pollSoon(turns: Turns): void {
    const now = performance.now();
    if (this.everyMs === 0 || now - this.hurriedAt < HURRY_EVERY_MS) return;
    this.hurriedAt = now;
    this.resolver.hurry();
    this.dueAt = Math.min(this.dueAt, now + SOON_MS);
    turns.wake();
  }
}

/** The result of a round that failed as a whole. The log of the worker says why. */
function failedRound(): ResolverRound {
  return { in_doubt: 0, polled: 0, failure: 'round_failed', reads: [], verdicts: [] };
}
