import { Inject, Injectable, Logger } from '@nestjs/common';
import { accountNames } from '../../platform/config/upstream-accounts';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { codeOrNameOf } from '../../platform/errors/error-code';
import { FollowUpService } from './follow-up.service';

/** How often a disabled job looks whether it has to end. */
const REST_MS = 60_000;

/** Follows payouts after their answers: every FOLLOW_UP_EVERY_SECONDS, by one listing of each upstream account. */
@Injectable()
export class FollowUpJob implements Job {
  readonly name = 'follow';
  private readonly logger = new Logger('FollowUp');
  /** The last failure of each account that failed. */
  private readonly complaints = new Map<string, string>();

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
      // At once, so that no account waits for another one that is slow.
      await Promise.all(accounts.map((account) => this.poll(account, turns.signal)));
    }
  }

  private async poll(account: string, signal: AbortSignal): Promise<void> {
    const failure = await this.followUp.runOnce(account, signal).then((poll) => poll.failure, codeOrNameOf);
    if (failure === (this.complaints.get(account) ?? null) || signal.aborted) return;
    if (failure === null) {
      this.complaints.delete(account);
      this.logger.log({ account }, 'follow-up succeeded after failures');
    } else {
      this.complaints.set(account, failure);
      this.logger.warn({ account, failure }, 'follow-up failed, will retry');
    }
  }
}
