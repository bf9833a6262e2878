import { hash } from 'node:crypto';
import { Transaction } from '../../gateway/upstream/answers/transactions';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { MayPay } from '../../gateway/may-pay/may-pay.service';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { UnclaimedService } from '../in-doubt/rounds/unclaimed.service';
import { SourcesService } from '../sources/sources.service';
import { MAIN_ACCOUNT, accountNames } from '../../platform/config/upstream/upstream-accounts';
import { SettledRead, SettleListedService } from '../settling/settle-listed.service';
import { Job } from '../../platform/jobs/job';
import { Turns } from '../../platform/jobs/turns';
import { codeOrNameOf } from '../../platform/errors/error-code';

/** Some 60 bytes each. Beyond that, what was remembered first is forgotten, and looked at again. */
const MOST = 2_000_000;

/**
 * What the upstream said about its transactions when they were last looked at. It lets a poll skip those that have not
 * changed, because the upstream lists everything each time. It is lost with the process and when the database is
 * recovered, which costs one longer poll.
 */
class Remembered {
  private readonly said = new Map<number, number>();

  /** Whether a transaction says what it said before. One without a name is never known. */
  has(transaction: Transaction): boolean {
    const name = nameOf(transaction);
    return name !== undefined && this.said.get(name) === contentOf(transaction);
  }

  add(transaction: Transaction): void {
    const name = nameOf(transaction);
    if (name === undefined) return;
    this.said.delete(name); // so that it comes last
    this.said.set(name, contentOf(transaction));
    if (this.said.size <= MOST) return;
    for (const oldest of this.said.keys()) {
      this.said.delete(oldest);
      return;
    }
  }
}

function nameOf({ upstreamRef, upstreamId }: Transaction): number | undefined {
  const name = upstreamRef ?? upstreamId;
  return name === null ? undefined : numberOf(name);
}

function contentOf({ status, feeUsd, amountUsd }: Transaction): number {
  return numberOf(JSON.stringify([status, feeUsd, amountUsd]));
}

/** Returns 48 bits of a hash. Of a million names, two are equal with a probability of 1 in 560. Then one is skipped for as long as the other stays. */
function numberOf(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}

const DAY_MS = 86_400_000;

/** Transactions up to this far in the future are looked at, as the upstream's clock may be ahead. */
const AHEAD_MS = DAY_MS;

/** For how long a transaction that no call of ours claims is looked at again. */
const YOUNG_MS = 3_600_000;

/** The most transactions of one poll. The next poll looks at the others. */
const MOST_PER_POLL = 50_000;

/** The result of one poll. */
interface Poll extends Omit<SettledRead, 'unclaimed'> {
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
