import { Inject, Injectable, Logger } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Counter } from 'prom-client';
import { HeartbeatService } from '../../continuity/heartbeat/heartbeat.service';
import { MetricsService } from '../../http/metrics/metrics.service';
import { FeeRule, feeOf, feeRules, feesOf } from '../../operations/items/fees';
import { settlesItems } from '../../operations/lifecycle/settlement';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { LOCKS } from '../../platform/database/locks';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { AdmissionRequest } from '../../policy/admission';

/** Days for which a charged fee is expected again. */
const EXPECTED_DAYS = 30;

/** Cap on expected fees. One mistake of the upstream must not use up every cap. Charged fees always count. */
const MAX_PERCENT = new Decimal(100);

/** Decimals of a share. Shares are rounded up, to never expect less than was charged. */
const PERCENT_DECIMALS = 6;

/** An upstream that splits the fee of a batch rounds each part. */
const ROUNDING_USD = new Decimal('0.000002');

/** The largest share of an operation on a day, from the database. */
export interface FeeShare {
  number: number;
  operation: string;
  day: string;
  percent: string;
}

/** A fee charged by the upstream. */
export interface ChargedFee {
  amountUsd: Decimal | null;
  feeUsd: Decimal;
}

/**
 * Computes the fee that is reserved with a payout: the configured one (UPSTREAM_FEES), or the largest share
 * that the upstream charged in the last days. Every instance learns of a larger share before its next
 * admission, because no_conflict() of the migrations compares the number of the newest share.
 * See docs/internals/decisions/money/0034-expected-fees-are-reserved.md.
 */
@Injectable()
export class ExpectedFees {
  private readonly logger = new Logger('Fees');
  private readonly configured: Map<string, FeeRule>;
  private readonly unexpected: Counter<'operation'>;
  /** Largest percentages by operation and day. */
  private readonly shares = new Map<string, Map<string, Decimal>>();
  private newest = 0;
  /** Epoch of the database that numbered `known`. */
  private epoch: number | undefined;

  constructor(
    private readonly prisma: PrismaService,
    heartbeat: HeartbeatService,
    @Inject(SETTINGS) settings: RunningConfig,
    metrics: MetricsService,
  ) {
    this.configured = feeRules(settings.upstreamFees);
    this.unexpected = metrics.counter(
      'payout_proxy_unexpected_fees_total',
      'Fees of the upstream that were larger than the fee that was reserved, by operation. Set ' +
        'UPSTREAM_FEES.',
      ['operation'],
    );
    heartbeat.observe(({ epoch }) => {
      if (this.epoch !== undefined && this.epoch !== epoch) this.learnAnew();
      this.epoch = epoch;
    });
  }

  /** Number of the newest share that this process knows. */
  get known(): number {
    return this.newest;
  }

  /** Returns the rate to reserve for an operation. Null if no fee is expected. */
  private rateOf(operation: string): FeeRule | null {
    const configured = this.configured.get(operation) ?? null;
    const days = this.shares.get(operation);
    if (!days) return configured;
    const oldest = clock.daysAgo(EXPECTED_DAYS);
    let percent = configured?.percent ?? new Decimal(0);
    for (const [day, share] of days) if (day >= oldest && share.gt(percent)) percent = share;
    return percent.isZero() && !configured
      ? null
      : { percent, fixedUsd: configured?.fixedUsd ?? new Decimal(0) };
  }

  /**
   * Returns the fee to reserve with each payout of a call.
   * @param usd amount that counts on the caps. Null if none counts.
   */
  reservedWith(operation: string, usd: Decimal | null): FeeRule | null {
    return usd !== null && settlesItems(operation) ? this.rateOf(operation) : null;
  }

  /** Adds the fees to reserve to requests. */
  priced(requests: AdmissionRequest[]): AdmissionRequest[] {
    if (this.configured.size === 0 && this.shares.size === 0) return requests;
    return requests.map((request) => {
      const feeUsd = feesOf(request.items, this.reservedWith(request.operation, request.usd));
      return feeUsd ? { ...request, feeUsd } : request;
    });
  }

  /** Adds shares from the database. */
  learn(shares: readonly FeeShare[]): void {
    for (const { number, operation, day, percent } of shares) {
      this.raise(operation, day, new Decimal(percent));
      this.newest = Math.max(this.newest, number);
    }
  }

  /**
   * Adds fees that the upstream has charged. Resolves once a new share is durable. If the write fails, this
   * process still expects the fee, and the next charge is written.
   */
  async observe(operation: string, fees: readonly ChargedFee[]): Promise<void> {
    const rate = this.rateOf(operation);
    const fixedUsd = rate?.fixedUsd ?? new Decimal(0);
    let highest = new Decimal(0);
    for (const { amountUsd, feeUsd } of fees) {
      if (!amountUsd?.greaterThan(0)) continue;
      if (feeUsd.minus(rate ? feeOf(amountUsd, rate) : 0).gt(ROUNDING_USD)) {
        this.unexpected.inc({ operation });
        const [fee, expected] = [feeUsd.toFixed(), rate ? feeOf(amountUsd, rate).toFixed() : '0'];
        this.logger.warn(
          { operation, fee_usd: fee, reserved_usd: expected },
          'fee is larger than the reserved one',
        );
      }
      highest = Decimal.max(highest, feeUsd.minus(fixedUsd).div(amountUsd).times(100));
    }
    const percent = Decimal.min(highest.toDecimalPlaces(PERCENT_DECIMALS, Decimal.ROUND_UP), MAX_PERCENT);
    const today = clock.today();
    if (percent.lte(this.configured.get(operation)?.percent ?? 0)) return;
    if (percent.lte(this.shares.get(operation)?.get(today) ?? 0)) return;
    try {
      await this.write(operation, today, percent);
    } catch (err) {
      this.logger.error({ err, operation }, 'fee not recorded, the next one will be');
      // Expected anyway, and written with the next charge today.
      this.raise(operation, clock.daysAgo(1), percent);
      return;
    }
    this.raise(operation, today, percent);
  }

  /**
   * Rereads all shares after a recovery: a recovered database reuses the numbers of the shares that it lost.
   * Shares of today that only this process knows are still expected, and written with the next charge.
   */
  private learnAnew(): void {
    this.newest = 0;
    const today = clock.today();
    for (const [operation, days] of this.shares) {
      const percent = days.get(today);
      days.delete(today);
      if (percent) this.raise(operation, clock.daysAgo(1), percent);
    }
  }

  private async write(operation: string, day: string, percent: Decimal): Promise<void> {
    // One statement, because a process that freezes in a transaction would keep the lock.
    await this.prisma.$executeRaw`
      WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(${LOCKS.expectedFee}))
      INSERT INTO fee_share (operation, day, percent)
      SELECT ${operation}, ${day}::date, ${percent.toFixed()}::numeric FROM locked
      ON CONFLICT (operation, day) DO UPDATE SET percent = excluded.percent, number = DEFAULT
      WHERE fee_share.percent < excluded.percent`;
  }

  private raise(operation: string, day: string, percent: Decimal): void {
    const days = this.shares.get(operation) ?? new Map<string, Decimal>();
    if (percent.gt(days.get(day) ?? 0)) days.set(day, percent);
    this.shares.set(operation, days);
  }
}

/** Selects the shares that a process does not know, as `FeeShare`. */
export const sharesAfter = (known: number) => Prisma.sql`
  SELECT number, operation, day::text, percent::text FROM fee_share WHERE number > ${known}::bigint`;
