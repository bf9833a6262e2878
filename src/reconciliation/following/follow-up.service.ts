import { Inject, Injectable } from '@nestjs/common';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/prisma.service';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { Transaction } from '../../gateway/upstream/transactions';
import { UnclaimedService } from '../in-doubt/unclaimed.service';
import { SourcesService } from '../sources/sources.service';
import { Remembered } from './remembered';
import { MAIN_ACCOUNT } from '../../platform/config/upstream-accounts';
import { SettledRead, SettleListedService } from '../settling/settle-listed.service';

const DAY_MS = 86_400_000;

/** Transactions up to this far in the future are looked at, as the upstream's clock may be ahead. */
const AHEAD_MS = DAY_MS;

/** For how long a transaction that no call of ours claims is looked at again. */
const YOUNG_MS = 3_600_000;

/** The most transactions of one poll. The next poll looks at the others. */
const MOST_PER_POLL = 50_000;

/** The result of one poll. */
export interface Poll extends Omit<SettledRead, 'unclaimed'> {
  /** Null if nothing was read. */
  readId: string | null;
  /** Why the upstream's listing could not be read, as a short code. Null if it was read. */
  failure: string | null;
  /** How many transactions said something new. */
  changed: number;
}

/**
 * Follows payouts for FOLLOW_UP_DAYS: pending ones to their end, and all others for as long as they may fail, be
 * reversed, refunded or redeemed, or expire. One listing serves all payouts of an account.
 */
@Injectable()
export class FollowUpService {
  /** By account. */
  private readonly remembered = new Map<string, Remembered>();
  /** The epoch of the database in which it was remembered. */
  private epoch: number | undefined;

  constructor(
    private readonly prisma: PrismaService,
    private readonly sources: SourcesService,
    private readonly settling: SettleListedService,
    private readonly unclaimed: UnclaimedService,
    private readonly mayPay: MayPay,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async runOnce(account = MAIN_ACCOUNT, signal: AbortSignal = new AbortController().signal): Promise<Poll> {
    const obstacle = this.mayPay.obstacleTo('settle');
    if (obstacle) return { readId: null, failure: obstacle.kind, changed: 0, known: 0, settled: 0 };
    await this.forgetIfRecovered();
    const remembered = this.remembered.get(account) ?? new Remembered();
    this.remembered.set(account, remembered);
    const now = clock.nowMs();
    const window = { from: new Date(now - this.settings.followUpDays * DAY_MS), to: new Date(now + AHEAD_MS) };
    const changed: Transaction[] = [];
    const isNews = (transaction: Transaction) => {
      if (changed.length >= MOST_PER_POLL || remembered.has(transaction)) return false;
      changed.push(transaction);
      return true;
    };
    const { readId, complete, failure } = await this.sources.changes(account, window, isNews, signal);
    const result = { readId, failure, changed: changed.length, known: 0, settled: 0 };
    if (!complete) return result; // What was listed is looked at again.
    this.mayPay.require('settle'); // again, because reading takes long
    const { unclaimed, ...named } = await this.settling.run(readId, 'poll', signal);
    const found = await this.unclaimed.run(account, readId, [...unclaimed.keys()], window.from, signal);
    const names = new Set(unclaimed.values());
    for (const transaction of changed) {
      // An answer that names it may still be on its way.
      const isYoung = transaction.issuedAt === null || now - transaction.issuedAt.getTime() < YOUNG_MS;
      if (!isYoung || !names.has(transaction.upstreamRef ?? transaction.upstreamId)) remembered.add(transaction);
    }
    return { ...result, ...named, settled: named.settled + found };
  }

  /** An older database lacks what was settled by what is remembered. */
  private async forgetIfRecovered(): Promise<void> {
    const [row] = await this.prisma.$queryRaw<[{ epoch: number }]>`SELECT max(number) AS epoch FROM epoch`;
    if (row.epoch !== this.epoch) this.remembered.clear();
    this.epoch = row.epoch;
  }
}
