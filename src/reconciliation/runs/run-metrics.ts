import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { ReconciliationMetrics, ReconciliationState } from '../../http/metrics/reconciliation-metrics';

/** The state changes about once a day. However often the metrics are read, the findings are counted only this often. */
const COUNTED_EVERY_MS = 30_000;

/** The metrics are available without the database. */
const PATIENCE_MS = 1_000;

interface RunCountRow {
  ends: Record<string, number> | null;
  residual: string | null;
  open: Record<string, number> | null;
}

/**
 * Reports the state of the reconciliation: how long the runs of this instance took, and the state of all runs in the
 * database.
 */
@Injectable()
export class RunMetrics {
  private latest: ReconciliationState | undefined;
  private counting: Promise<void> | undefined;

  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly metrics: ReconciliationMetrics,
  ) {
    metrics.watchReconciliation(() => this.state());
  }

  countRun(result: string, seconds: number): void {
    this.metrics.countRun(result, seconds);
    this.counting = undefined; // The next reading shows it.
  }

  private async state(): Promise<ReconciliationState | undefined> {
    this.counting ??= this.count();
    await Promise.race([this.counting, sleep(PATIENCE_MS, undefined, { ref: false })]);
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
