import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { clock } from '../../platform/database/clock';
import { MetricsService } from './metrics.service';

/** Durations of a reconciliation, from an empty day to a year, in seconds. */
const RUN_BUCKETS = [0.5, 1, 5, 15, 60, 300, 900, 3_600];

/** Durations of a read, from one transaction to a million, in seconds. */
const SOURCE_BUCKETS = [0.01, 0.1, 1, 10, 30, 60, 300, 600];

const HOUR_MS = 3_600_000;

/** Ages of calls in doubt, in milliseconds. */
const AGES = {
  under_an_hour: { from: -Infinity, to: HOUR_MS },
  under_a_day: { from: HOUR_MS, to: 24 * HOUR_MS },
  a_day_or_more: { from: 24 * HOUR_MS, to: Infinity },
};

/** Maximum number of measured wallets, because each has its own label. */
const MOST_WALLETS = 100;

/** A wallet, with the runway of its balance. */
export interface MeasuredWallet {
  /** The upstream account of the wallet. */
  account: string;
  walletId: string;
  type: string | null;
  balanceUsd: Decimal;
  /** Seconds that the balance lasts at the last day's rate. Null without spending or a second reading. */
  runwaySeconds: number | null;
  /** Low-balance threshold. Null if unset. */
  lowUsd: Decimal | null;
  isLow: boolean;
}

/** Counts and times the reconciliation: reads of sources, runs, and verdicts about calls in doubt. */
@Injectable()
export class ReconciliationMetrics {
  /** The result is `complete`, or the code of a failure. */
  readonly sourceReads = this.metrics.histogram(
    'payout_proxy_source_read_duration_seconds',
    'Time to read a source that the history is compared with, by source and result.',
    ['account', 'source', 'result'],
    SOURCE_BUCKETS,
  );
  readonly runs = this.metrics.histogram(
    'payout_proxy_reconciliation_run_duration_seconds',
    'Duration of the reconciliation runs that ended on this instance, by result and upstream account.',
    ['result', 'account'],
    RUN_BUCKETS,
  );
  readonly verdicts = this.metrics.counter(
    'payout_proxy_verdicts_total',
    'Verdicts of this instance about calls in doubt.',
    ['verdict'],
  );

  constructor(private readonly metrics: MetricsService) {}

  /** @param read is called at each scrape. It returns undefined while another process reads the wallets. */
  watchWallets(read: () => MeasuredWallet[] | undefined): void {
    const watch = (name: string, help: string, valueOf: (wallet: MeasuredWallet) => number | null) => {
      const measure = () =>
        read()
          ?.slice(0, MOST_WALLETS)
          .flatMap((one) => {
            const value = valueOf(one);
            const labels = { account: one.account, wallet: one.walletId, type: one.type ?? '' };
            return value === null ? [] : [{ labels, value }];
          });
      this.metrics.watch(name, help, measure, ['account', 'wallet', 'type']);
    };
    watch(
      'payout_proxy_wallet_balance_usd',
      'Balance of a wallet of an upstream account.',
      ({ balanceUsd }) => balanceUsd.toNumber(),
    );
    watch(
      'payout_proxy_wallet_runway_seconds',
      'How long the balance of a wallet lasts at the pace of the last day. Absent if nothing was spent.',
      ({ runwaySeconds }) => runwaySeconds,
    );
    watch(
      'payout_proxy_wallet_low',
      '1 while the balance of a wallet is below WALLET_LOW_BALANCE_USD. Absent for wallets without such ' +
        'a balance.',
      ({ lowUsd, isLow }) => (lowUsd === null ? null : isLow ? 1 : 0),
    );
  }

  /**
   * @param since returns when each call in doubt was sent, in milliseconds since 1970. It is called at each
   * scrape, and returns undefined while that is not known.
   */
  watchDoubts(since: () => number[] | undefined): void {
    this.metrics.watch(
      'payout_proxy_calls_in_doubt',
      'Calls in doubt, by the time since they were sent. Absent while this worker does not resolve, or ' +
        'cannot read them.',
      () => {
        const ages = since()?.map((at) => clock.nowMs() - at);
        return (
          ages &&
          Object.entries(AGES).map(([age, { from, to }]) => ({
            labels: { age },
            value: ages.filter((ms) => ms >= from && ms < to).length,
          }))
        );
      },
      ['age'],
    );
  }
}
