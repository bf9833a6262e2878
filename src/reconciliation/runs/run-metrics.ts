import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { MetricsService } from '../../http/metrics/metrics.service';
import { waitAtMost } from '../../platform/database/patience';

/** The state changes about once a day. However often the metrics are read, the findings are counted only this often. */
const COUNTED_EVERY_MS = 30_000;

/** The metrics are available without the database. */
const PATIENCE_MS = 1_000;

/** The state of the reconciliation in the database, whichever instance ran it. */
export interface ReconciliationState {
  /** When the newest run of each result ended, in seconds since 1970. */
  lastEnds: Record<string, number>;
  /** The residual of the newest run that has one, in US dollars. */
  residualUsd: number | undefined;
  /** Undecided findings by category. */
  open: Record<string, number>;
}

interface RunCountRow {
  ends: Record<string, number> | null;
  residual: string | null;
  open: Record<string, number> | null;
}

/** Reports the state of all runs in the database. */
@Injectable()
export class RunMetrics {
  private latest: ReconciliationState | undefined;
  private counting: Promise<void> | undefined;

  constructor(
    private readonly prisma: ReaderPrisma,
    { registry }: MetricsService,
  ) {
    const read = () => this.state();
    const watch = (
      name: string,
      help: string,
      label: string,
      of: (state: ReconciliationState) => Record<string, number>,
    ) =>
      new Gauge({
        name: `payout_proxy_reconciliation_${name}`,
        help,
        registers: [registry],
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

  private async state(): Promise<ReconciliationState | undefined> {
    this.counting ??= this.count();
    await waitAtMost(this.counting, PATIENCE_MS);
    return this.latest;
  }

  private async count(): Promise<void> {
    setTimeout(() => (this.counting = undefined), COUNTED_EVERY_MS).unref();
    try {
      const [row] = await this.prisma.$queryRaw<RunCountRow[]>`
        SELECT
          (SELECT json_object_agg(result, extract(epoch FROM ended)) FROM (
            SELECT result, max(ended_at) AS ended FROM reconciliation_run_end GROUP BY result) AS ends) AS ends,
          (SELECT totals ->> 'residual_usd' FROM reconciliation_run_end WHERE totals IS NOT NULL
            ORDER BY run_id DESC LIMIT 1) AS residual,
          (SELECT json_object_agg(category, findings) FROM (
            SELECT category, count(*) AS findings FROM finding f WHERE coalesce((
              SELECT state FROM finding_step s WHERE s.finding_id = f.id ORDER BY s.id DESC LIMIT 1), 'reopened') = 'reopened'
            GROUP BY category) AS open) AS open`;
      if (!row) return;
      const residualUsd = row.residual === null ? undefined : Number(row.residual);
      this.latest = { lastEnds: row.ends ?? {}, residualUsd, open: row.open ?? {} };
    } catch {
      this.latest = undefined;
    }
  }
}
