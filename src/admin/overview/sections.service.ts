import { Inject, Injectable } from '@nestjs/common';
import { PresentService } from '../../history/records/records.service';
import { IndexService } from '../../history/search/index.service';
import { countLastReleases, readQueue } from '../../journal/queue/queue';
import { readDoubtedOperations } from '../../journal/settlement/false-rejections';
import { recordedAs } from '../../operations/lifecycle/lifecycle';
import { notExpired, stateAtSql, stateTerms } from '../../operations/lifecycle/lifecycle-sql';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { accountNames } from '../../platform/config/upstream/upstream-accounts';
import { RESTED } from '../../platform/database/pools/pacing';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { SpendingService } from '../../policy/spending.service';
import { readStatesOfRun, sumAges, WAITING } from '../../reconciliation/findings/findings-reader';
import { equationOf } from '../../reconciliation/report/report.controller';
import { RunReader } from '../../reconciliation/runs/run-reader';
import { stateOf } from '../../reconciliation/runs/run-record';
import { readWalletLevels } from '../../reconciliation/wallets/wallets.job';
import { toUsage } from '../limits/cap';
import {
  OverviewApprovals,
  OverviewClient,
  OverviewDoubtedOperation,
  OverviewFindings,
  OverviewInDoubt,
  OverviewQueue,
  OverviewRun,
  OverviewSeal,
  OverviewStops,
  OverviewWallet,
} from './overview.dto';

/** Reads the sections of the overview. */
@Injectable()
export class SectionsService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly present: PresentService,
    private readonly index: IndexService,
    private readonly runs: RunReader,
    private readonly spending: SpendingService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async inDoubt(): Promise<OverviewInDoubt> {
    const present = await this.present.read();
    await this.index.catchUp();
    const [row] = await this.prisma.$queryRaw<OverviewInDoubt[]>`
      SELECT count(*)::float8 AS calls, trim_scale(coalesce(sum(total_usd), 0))::text AS usd,
        min(coalesce(o.answered_at, released_at)) AS oldest_since
      FROM indexed_call
        LEFT JOIN LATERAL (SELECT answered_at FROM outcome WHERE intent_id = call_id OFFSET 0) AS o ON TRUE
      WHERE terms && ${stateTerms(recordedAs('unknown'))}
        AND ${stateAtSql(present)} = 'unknown'
        AND ${RESTED}`;
    return row as OverviewInDoubt; // an aggregate has one row
  }

  async queue(): Promise<OverviewQueue> {
    const [{ calls, oldestSince }, released] = await Promise.all([
      readQueue(this.prisma),
      countLastReleases(this.prisma),
    ]);
    return { calls, oldest_since: oldestSince, released_last_minute: released };
  }

  async seal(): Promise<OverviewSeal | null> {
    const newest = await this.prisma.checkpoint.findFirst({
      select: { size: true, sealedAt: true },
      orderBy: { size: 'desc' },
    });
    return newest && { size: Number(newest.size), sealed_at: newest.sealedAt };
  }

  async findings(): Promise<OverviewFindings[]> {
    const ages = await sumAges(this.prisma);
    return ages.map(({ age, count, usd }) => ({ age, count, impact_usd: usd }));
  }

  async lastRun(): Promise<OverviewRun | null> {
    // All readers share the overview, also those without the scope for people.
    const newest = await Promise.all(
      accountNames(this.settings).map((account) => this.runs.list({ account, seesPeople: false }, 1)),
    );
    const [run] = newest.flat().sort((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
    if (!run) return null;
    const { id, account, from, to, startedAt, end, endedAt } = run;
    const states = await readStatesOfRun(this.prisma, id);
    const equation = end?.totals ? equationOf(end.totals) : null;
    return {
      id,
      account,
      from,
      to,
      state: stateOf(run),
      result: end?.result ?? null,
      started_at: startedAt,
      ended_at: endedAt,
      difference_usd: equation?.difference_usd ?? null,
      residual_usd: equation?.residual_usd ?? null,
      open_findings: WAITING.reduce((sum, state) => sum + (states[state] ?? 0), 0),
    };
  }

  async wallets(): Promise<OverviewWallet[]> {
    const levels = await readWalletLevels(this.prisma, this.settings.walletLowBalanceUsd);
    return levels.map(
      ({ account, walletId, type, balanceUsd, lowUsd, isLow, spentUsd, runwaySeconds, readAt }) => ({
        account,
        wallet_id: walletId,
        type,
        balance_usd: balanceUsd.toFixed(),
        low_balance_usd: lowUsd?.toFixed() ?? null,
        is_low: isLow,
        spent_usd: spentUsd.toFixed(),
        runway_seconds: runwaySeconds,
        read_at: readAt,
      }),
    );
  }

  async approvals(): Promise<OverviewApprovals> {
    const present = await this.present.read();
    await this.index.catchUp();
    const [row] = await this.prisma.$queryRaw<OverviewApprovals[]>`
      SELECT count(*)::float8 AS waiting, trim_scale(coalesce(sum(total_usd), 0))::text AS usd,
        min(expires_at) AS next_expires_at
      FROM indexed_call WHERE state = 'pending_approval' AND ${notExpired(present)}`;
    return row as OverviewApprovals; // an aggregate has one row
  }

  async clients(): Promise<OverviewClient[]> {
    const [clients, spending] = await Promise.all([
      this.prisma.client.findMany({
        select: { id: true, name: true, dailyCapUsd: true, monthlyCapUsd: true },
        orderBy: { name: 'asc' },
      }),
      this.spending.spentByAll(),
    ]);
    return clients.flatMap(({ id, name, dailyCapUsd, monthlyCapUsd }) => {
      const spent = spending.get(id);
      const isShown = dailyCapUsd !== null || monthlyCapUsd !== null || spent?.thisMonth.usd.gt(0);
      if (!spent || !isShown) return []; // without caps and spending, or created since the reading
      const caps = { daily: dailyCapUsd?.toFixed() ?? null, monthly: monthlyCapUsd?.toFixed() ?? null };
      return [{ name, ...toUsage(caps, spent) }];
    });
  }

  async stops(): Promise<OverviewStops> {
    return { active: await this.prisma.stop.count({ where: { lift: null } }) };
  }

  async doubtedOperations(): Promise<OverviewDoubtedOperation[]> {
    return readDoubtedOperations(this.prisma);
  }
}
