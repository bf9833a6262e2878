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

/** A metric of all runs in the database, of all instances, by upstream account. */
interface RunMetric {
  name: string;
  help: string;
  labels: string[];
  /** Selects `labels` and `value`. */
  query: Prisma.Sql;
}

const METRICS: readonly RunMetric[] = [
  {
    name: 'last_end_timestamp_seconds',
    help:
      'Unix time at which the newest reconciliation run of each result and account ended, on any ' +
      'instance.',
    labels: ['result', 'account'],
    query: Prisma.sql`
      SELECT json_build_object('result', e.result, 'account', ${ACCOUNT}) AS labels,
        extract(epoch FROM max(e.ended_at))::float8 AS value
      FROM reconciliation_run_end e JOIN reconciliation_run r ON r.id = e.run_id
      GROUP BY e.result, r.account`,
  },
  {
    name: 'open_findings',
    help: 'Open and reopened findings, by category and account.',
    labels: ['category', 'account'],
    query: Prisma.sql`
      SELECT json_build_object('category', r.category, 'account', ${ACCOUNT}) AS labels,
        count(*)::float8 AS value
      FROM finding r
      WHERE coalesce(
        (SELECT state FROM finding_step s WHERE s.finding_id = r.id ORDER BY s.id DESC LIMIT 1),
        'reopened') = 'reopened'
      GROUP BY r.category, r.account`,
  },
  {
    name: 'residual_usd',
    help:
      'Difference between the totals in US dollars that the findings of the newest reconciliation run of ' +
      'an account do not explain. It must be 0.',
    labels: ['account'],
    query: Prisma.sql`
      SELECT DISTINCT ON (r.account) json_build_object('account', ${ACCOUNT}) AS labels,
        (e.totals ->> 'residual_usd')::float8 AS value
      FROM reconciliation_run_end e JOIN reconciliation_run r ON r.id = e.run_id
      WHERE e.totals IS NOT NULL
      ORDER BY r.account, e.run_id DESC`,
  },
];

/** Reports the state of all runs in the database. */
@Injectable()
export class RunMetrics {
  private latest: ReadonlyMap<string, LabeledValue[]> | undefined;
  private counting: Promise<void> | undefined;

  constructor(
    private readonly prisma: ReaderPrisma,
    metrics: MetricsService,
  ) {
    for (const { name, help, labels } of METRICS) {
      const read = async () => (await this.state())?.get(name);
      metrics.watch(`payout_proxy_reconciliation_${name}`, help, read, labels);
    }
  }

  private async state(): Promise<ReadonlyMap<string, LabeledValue[]> | undefined> {
    this.counting ??= this.count();
    await waitAtMost(this.counting, TIMEOUT_MS);
    return this.latest;
  }

  private async count(): Promise<void> {
    setTimeout(() => (this.counting = undefined), COUNTED_EVERY_MS).unref();
    const latest = new Map<string, LabeledValue[]>();
    try {
      for (const { name, query } of METRICS)
        latest.set(name, await this.prisma.$queryRaw<LabeledValue[]>(query));
      this.latest = latest;
    } catch {
      this.latest = undefined;
    }
  }
}
