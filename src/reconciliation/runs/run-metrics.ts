import { Injectable } from '@nestjs/common';
import { LabeledValue, MetricsService } from '../../http/metrics/metrics.service';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { waitAtMost } from '../../platform/database/pools/timeouts';

/** Minimum interval between counts of the findings, in ms. The state changes about once a day. */
const COUNTED_EVERY_MS = 30_000;

/** Timeout of the query, in ms. The other metrics do not need the database. */
const TIMEOUT_MS = 1_000;

/** The account of a record `r`. */
const ACCOUNT = Prisma.sql`coalesce(r.account, ${MAIN_ACCOUNT}::text)`;

/** State of the reconciliation in the database, of all instances, by upstream account. */
interface ReconciliationState {
  /** End of the newest run of each result, in seconds since 1970. */
  lastEnds: LabeledValue[];
  /** Residuals of the newest runs with one, in US dollars. */
  residuals: LabeledValue[];
  /** Undecided findings by category. */
  open: LabeledValue[];
}

/** Reports the state of all runs in the database. */
@Injectable()
export class RunMetrics {
  private latest: ReconciliationState | undefined;
  private counting: Promise<void> | undefined;

  constructor(
    private readonly prisma: ReaderPrisma,
    metrics: MetricsService,
  ) {
    type Values = (state: ReconciliationState) => LabeledValue[];
    const watch = (name: string, help: string, labels: string[], valuesOf: Values) => {
      const read = async () => {
        const state = await this.state();
        return state && valuesOf(state);
      };
      metrics.watch(`payout_proxy_reconciliation_${name}`, help, read, labels);
    };
    const when =
      'Unix time at which the newest reconciliation run of each result and account ended, on any instance.';
    watch('last_end_timestamp_seconds', when, ['result', 'account'], ({ lastEnds }) => lastEnds);
    const open = 'Open and reopened findings, by category and account.';
    watch('open_findings', open, ['category', 'account'], (state) => state.open);
    const residual =
      'Difference between the totals in US dollars that the findings of the newest reconciliation run of ' +
      'an account do not explain. It must be 0.';
    watch('residual_usd', residual, ['account'], ({ residuals }) => residuals);
  }

  private async state(): Promise<ReconciliationState | undefined> {
    this.counting ??= this.count();
    await waitAtMost(this.counting, TIMEOUT_MS);
    return this.latest;
  }

  private async count(): Promise<void> {
    setTimeout(() => (this.counting = undefined), COUNTED_EVERY_MS).unref();
    try {
      this.latest = {
        lastEnds: await this.prisma.$queryRaw`
          SELECT json_build_object('result', e.result, 'account', ${ACCOUNT}) AS labels,
            extract(epoch FROM max(e.ended_at))::float8 AS value
          FROM reconciliation_run_end e JOIN reconciliation_run r ON r.id = e.run_id
          GROUP BY e.result, r.account`,
        residuals: await this.prisma.$queryRaw`
          SELECT DISTINCT ON (r.account) json_build_object('account', ${ACCOUNT}) AS labels,
            (e.totals ->> 'residual_usd')::float8 AS value
          FROM reconciliation_run_end e JOIN reconciliation_run r ON r.id = e.run_id
          WHERE e.totals IS NOT NULL
          ORDER BY r.account, e.run_id DESC`,
        open: await this.prisma.$queryRaw`
          SELECT json_build_object('category', r.category, 'account', ${ACCOUNT}) AS labels,
            count(*)::float8 AS value
          FROM finding r
          WHERE coalesce(
            (SELECT state FROM finding_step s WHERE s.finding_id = r.id ORDER BY s.id DESC LIMIT 1),
            'reopened') = 'reopened'
          GROUP BY r.category, r.account`,
      };
    } catch {
      this.latest = undefined;
    }
  }
}
