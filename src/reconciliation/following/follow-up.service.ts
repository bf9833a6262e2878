import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { RunningConfig } from '../../platform/config/config';
import { Loaded } from '../../platform/config/config.module';
import { Transaction } from '../../gateway/upstream/transactions';
import { SourcesService } from '../sources/sources.service';
import { Remembered } from './remembered';
import { SettledRead, SettleListedService } from './settle-listed.service';

const DAY_MS = 86_400_000;

/** Transactions up to this far in the future are looked at, as the upstream's clock may be ahead. */
const AHEAD_MS = DAY_MS;

/** The most transactions of one poll. The next poll looks at the others. */
const MOST_PER_POLL = 50_000;

/** The result of one poll. */
export interface Poll extends SettledRead {
  readId: string;
  /** Why the upstream's listing could not be read, as a short code. Null if it was read. */
  failure: string | null;
  /** How many transactions said something new. */
  changed: number;
}

/**
 * Follows payouts for FOLLOW_UP_DAYS: pending ones to their end, and all others for as long as they may fail, be
 * reversed, refunded or redeemed, or expire. One listing serves all of them.
 */
@Injectable()
export class FollowUpService {
  private readonly settings: RunningConfig;
  private remembered = new Remembered();

  constructor(
    private readonly sources: SourcesService,
    private readonly settling: SettleListedService,
    config: ConfigService<Loaded, true>,
  ) {
    this.settings = config.get('settings', { infer: true });
  }

  async runOnce(signal: AbortSignal = new AbortController().signal): Promise<Poll> {
    const now = Date.now();
    const window = { from: new Date(now - this.settings.followUpDays * DAY_MS), to: new Date(now + AHEAD_MS) };
    const changed: Transaction[] = [];
    const isNews = (transaction: Transaction) => {
      if (changed.length >= MOST_PER_POLL || this.remembered.has(transaction)) return false;
      changed.push(transaction);
      return true;
    };
    const { readId, complete, failure } = await this.sources.changes(window, isNews, signal);
    const result = { readId, failure, changed: changed.length, known: 0, settled: 0 };
    if (!complete) return result; // What was listed is looked at again.
    const settled = await this.settling.run(readId, 'poll', signal);
    for (const transaction of changed) this.remembered.add(transaction);
    return { ...result, ...settled };
  }
}
