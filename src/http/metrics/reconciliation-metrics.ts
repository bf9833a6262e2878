import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram } from 'prom-client';
import { MetricsService } from './metrics.service';

/** Durations of a reconciliation, from an empty day to a year, in seconds. */
const RUN_BUCKETS = [0.5, 1, 5, 15, 60, 300, 900, 3_600];

/** The state of the reconciliation in the database, whichever instance ran it. */
export interface ReconciliationState {
  /** When the newest run of each result ended, in seconds since 1970. */
  lastEnds: Record<string, number>;
  /** The residual of the newest run that has one, in US dollars. */
  residualUsd: number | undefined;
  /** Undecided findings by category. */
  open: Record<string, number>;
}

/** From one transaction to a million, in seconds. */
const SOURCE_BUCKETS = [0.01, 0.1, 1, 10, 30, 60, 300, 600];

const HOUR_MS = 3_600_000;

/** Ages of calls in doubt, in milliseconds. */
const AGES = {
  under_an_hour: { from: -Infinity, to: HOUR_MS },
  under_a_day: { from: HOUR_MS, to: 24 * HOUR_MS },
  a_day_or_more: { from: 24 * HOUR_MS, to: Infinity },
};

/** Counts and times the work of reconciliation: reads of sources, runs, and verdicts about calls in doubt. */
@Injectable()
export class ReconciliationMetrics {
  private readonly sourceReads = new Histogram({
    name: 'payout_proxy_source_read_duration_seconds',
    help: 'Time to read a source that the history is compared with, by source and result.',
    labelNames: ['source', 'result'],
    buckets: SOURCE_BUCKETS,
    registers: [this.metrics.registry],
  });
  private readonly runs = new Histogram({
    name: 'payout_proxy_reconciliation_run_duration_seconds',
    help: 'Duration of the reconciliation runs that ended on this instance, by result.',
    labelNames: ['result'],
    buckets: RUN_BUCKETS,
    registers: [this.metrics.registry],
  });

  private readonly verdicts = new Counter({
    name: 'payout_proxy_verdicts_total',
    help: 'Calls in doubt that this instance judged by itself, by verdict.',
    labelNames: ['verdict'],
    registers: [this.metrics.registry],
  });

  constructor(private readonly metrics: MetricsService) {}

  /** @param result `complete`, or the code of a failure. */
  noteSourceRead(source: string, result: string, seconds: number): void {
    this.sourceReads.observe({ source, result }, seconds);
  }

  countRun(result: string, seconds: number): void {
    this.runs.observe({ result }, seconds);
  }

  /** @param read is called at each scrape. It returns undefined while the state is unknown. */
  watchReconciliation(read: () => Promise<ReconciliationState | undefined>): void {
    const watch = (
      name: string,
      help: string,
      label: string,
      of: (state: ReconciliationState) => Record<string, number>,
    ) =>
      new Gauge({
        name: `payout_proxy_reconciliation_${name}`,
        help,
        registers: [this.metrics.registry],
        labelNames: label === '' ? [] : [label],
        async collect() {
          const state = await read();
          this.reset();
          for (const [value, number] of Object.entries(state ? of(state) : {})) {
            this.set(label === '' ? {} : { [label]: value }, number);
          }
        },
      });
    const when = 'Unix time at which the newest reconciliation run of each result ended, on any instance.';
    watch('last_end_timestamp_seconds', when, 'result', ({ lastEnds }) => lastEnds);
    const open = 'Open and reopened findings, by category.';
    watch('open_findings', open, 'category', (state) => state.open);
    const residual =
      'Difference between the totals in US dollars that the findings of the newest reconciliation run do not explain. It must be 0.';
    watch('residual_usd', residual, '', ({ residualUsd }) => (residualUsd === undefined ? {} : { '': residualUsd }));
  }

  countVerdict(verdict: string): void {
    this.verdicts.inc({ verdict });
  }

  /** @param since returns when each call in doubt was sent, in milliseconds since 1970. It is called at each scrape. */
  watchDoubts(since: () => number[]): void {
    new Gauge({
      name: 'payout_proxy_calls_in_doubt',
      help: 'Calls in doubt, by the time since they were sent.',
      labelNames: ['age'],
      registers: [this.metrics.registry],
      collect() {
        const ages = since().map((at) => Date.now() - at);
        for (const [age, { from, to }] of Object.entries(AGES)) {
          this.set({ age }, ages.filter((ms) => ms >= from && ms < to).length);
        }
      },
    });
  }
}
