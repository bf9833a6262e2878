import { Inject, Injectable, Logger } from '@nestjs/common';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { MAIN_ACCOUNT, accountNames } from '../../platform/config/upstream/upstream-accounts';
import { codeOrNameOf } from '../../platform/errors/error-code';
import { FailureLog } from '../../platform/jobs/failure-log';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { BookService } from '../book/book.service';
import { ListingsService } from '../sources/listings.service';
import { DeletedLinksService } from './deleted-links.service';

/** The result of one poll. */
interface FollowUpPoll {
  /** Null if nothing was read. */
  readId: string | null;
  /** Failure code of the listing. Null if it was read. */
  failure: string | null;
  /** Number of new or changed transactions. */
  changed: number;
  /** Number of those that belong to our payouts. */
  known: number;
  /** Number of settled calls. */
  settled: number;
}

/**
 * Follows payouts for FOLLOW_UP_DAYS: pending ones to their end, and all others for as long as they may fail,
 * be reversed, refunded or redeemed, or expire. One listing serves all payouts of an account.
 */
@Injectable()
export class FollowUpService {
  constructor(
    private readonly listings: ListingsService,
    private readonly book: BookService,
    private readonly deletedLinks: DeletedLinksService,
    private readonly mayPay: MayPay,
  ) {}

  async runOnce(
    account = MAIN_ACCOUNT,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<FollowUpPoll> {
    const obstacle = this.mayPay.obstacleTo('settle');
    if (obstacle) return { readId: null, failure: obstacle.kind, changed: 0, known: 0, settled: 0 };
    const listing = await this.listings.read(account, null, signal);
    const { readId, complete, failure, news, remember, from } = listing;
    const result = { readId, failure, changed: news, known: 0, settled: 0 };
    if (!complete) return result; // The next poll processes the listed part again.
    // The resolver judges calls in doubt.
    const reading = { account, readId, source: 'poll', isQuiet: () => false } as const;
    const { known, settled } = await this.book.enter(reading, signal);
    remember();
    this.mayPay.require('settle'); // again, because reading and settling take long
    const deleted = await this.deletedLinks.run(account, from, signal);
    return { ...result, known, settled: settled.size + deleted };
  }
}

/** Interval at which a disabled job checks whether to end, in ms. */
const REST_MS = 60_000;

/** Follows payouts every FOLLOW_UP_EVERY_SECONDS, by one listing of each upstream account. */
@Injectable()
export class FollowUpJob implements Job {
  readonly name = 'follow';
  private readonly failures = new FailureLog(new Logger('FollowUp'), 'follow-up');

  constructor(
    private readonly followUp: FollowUpService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async run(turns: Turns): Promise<void> {
    const everyMs = this.settings.followUpEverySeconds * 1_000;
    for (;;) {
      await turns.wait(everyMs || REST_MS);
      if (turns.areOver) return;
      const accounts = everyMs > 0 ? accountNames(this.settings) : [];
      // In parallel: a slow account must not delay the others.
      await Promise.all(accounts.map((account) => this.poll(account, turns.signal)));
    }
  }

  private async poll(account: string, signal: AbortSignal): Promise<void> {
    const failure = await this.followUp.runOnce(account, signal).then((poll) => poll.failure, codeOrNameOf);
    if (!signal.aborted) this.failures.note(failure, account);
  }
}
