import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { PresentService } from '../../history/records/records.service';
import { IndexService } from '../../history/search/index.service';
import { CallState } from '../../operations/lifecycle/lifecycle';
import { stateAtSql } from '../../operations/lifecycle/lifecycle-sql';
import { SUM_COLUMNS, SumRow, sumsOfEntry, TOTALS } from '../../operations/lifecycle/sums-sql';
import { clock } from '../../platform/database/clock';
import { Prisma } from '../../platform/database/generated/client';
import { RESTED } from '../../platform/database/pools/pacing';
import { ReplicaService } from '../../platform/database/pools/replica.service';
import { uuidFloor } from '../../platform/database/uuid';
import { Cached, CachedValue } from './cached';
import { MOST_DAYS, OperationDay, OperationLatency, OverviewHistory } from './overview.dto';
import { percentile, STEPS_PER_E, Times } from './percentiles';

const HOURS = 24;
const HOUR_MS = 3_600_000;
const DAY_MS = HOURS * HOUR_MS;
const AMOUNTS = ['asked_usd', ...SUM_COLUMNS] as const;

/** Minimum age of the counts of a past day, which only settlements and expiries change. */
const PAST_MS = 60_000;
const TODAY_MS = 2_000;

/** Calls of one operation and outcome in one step of upstream time. `step` is null for unsent calls. */
interface DayRow extends SumRow {
  operation: string;
  outcome: CallState;
  step: number | null;
  calls: number;
  items: number;
  asked_usd: string;
}

/** Counts of one operation. */
interface OperationCounts {
  calls: number;
  items: number;
  usd: Record<(typeof AMOUNTS)[number], Decimal>;
}

/** Counts of one day. */
interface Day {
  operations: Map<string, OperationCounts>;
  outcomes: Map<CallState, number>;
  /** Upstream times by operation. */
  times: Map<string, Times>;
}

/** Counts the newest days separately, once for all readers, and past days less often. */
@Injectable()
export class HistoryService {
  /** Counts by day number since the epoch. */
  private readonly days = new Map<number, Cached<Day>>();
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly replica: ReplicaService,
    private readonly present: PresentService,
    private readonly index: IndexService,
  ) {}

  /** Reads the newest days (UTC), including today. `at` is the time of today's count. */
  async read(count: number): Promise<CachedValue<OverviewHistory>> {
    const today = dayOf(clock.now());
    for (const day of this.days.keys()) if (day <= today - MOST_DAYS) this.days.delete(day);
    const days = Array.from({ length: count }, (_, ago) => today - ago);
    const counts = await Promise.all(days.map((day) => this.day(day).read()));
    const dates = days.map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10));
    const values = counts.map(({ value }) => value);
    return { value: toHistory(dates, values), at: counts[0]?.at ?? clock.now() };
  }

  private day(day: number): Cached<Day> {
    const existing = this.days.get(day);
    if (existing) return existing;
    const isToday = () => day >= dayOf(clock.now());
    const cached = new Cached(
      () => (isToday() ? this.count(day) : this.inTurn(() => this.count(day))),
      () => (isToday() ? TODAY_MS : PAST_MS),
    );
    this.days.set(day, cached);
    return cached;
  }

  /** Counts past days one after another, to leave the processors to payouts. */
  private inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.turn.then(work);
    this.turn = result.catch(() => undefined);
    return result;
  }

  private async count(day: number): Promise<Day> {
    const state = stateAtSql(await this.present.read());
    await this.index.catchUp();
    const bounds = Array.from({ length: HOURS + 1 }, (_, hour) =>
      uuidFloor(new Date((day * HOURS + hour) * HOUR_MS)),
    );
    // A lateral query per hour keeps the planner on the index. For a whole day, it may choose a parallel scan
    // of the whole history, and payouts would wait.
    const sql = Prisma.sql`
      SELECT operation, outcome, step, sum(calls)::float8 AS calls, sum(items)::float8 AS items,
        trim_scale(coalesce(sum(asked_usd), 0))::text AS asked_usd, ${TOTALS}
      FROM unnest(${bounds.slice(0, HOURS)}::uuid[], ${bounds.slice(1)}::uuid[]) AS hour(beginning, ending)
      CROSS JOIN LATERAL (
        SELECT operation, ${state} AS outcome, count(*) AS calls, sum(cardinality(item_usd)) AS items,
          sum(total_usd) AS asked_usd,
          ${Prisma.join(SUM_COLUMNS.map((name) => Prisma.raw(`sum(sums.${name}) AS ${name}`)))},
          CASE WHEN upstream_ms IS NOT NULL
            THEN round(ln(greatest(upstream_ms, 0.001)::float8) * ${STEPS_PER_E}::float8)::integer
          END AS step
        FROM indexed_call CROSS JOIN ${sumsOfEntry(state)}
        WHERE call_id >= beginning AND call_id < ending AND ${RESTED}
        GROUP BY 1, 2, step
      ) AS counts
      GROUP BY 1, 2, 3`;
    const rows = await this.replica.read((reader) => reader.readLong<DayRow>(sql), { index: true });
    return toDay(rows);
  }
}

/** Returns the day number since the epoch, as `search_day` of the search index. */
function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS);
}

function toDay(rows: DayRow[]): Day {
  const day: Day = { operations: new Map(), outcomes: new Map(), times: new Map() };
  for (const row of rows) {
    const { operation, outcome, step, calls, items } = row;
    const sum = day.operations.get(operation);
    const usd = AMOUNTS.map((name) => [name, new Decimal(row[name]).plus(sum?.usd[name] ?? 0)]);
    day.operations.set(operation, {
      calls: calls + (sum?.calls ?? 0),
      items: items + (sum?.items ?? 0),
      usd: Object.fromEntries(usd) as OperationCounts['usd'],
    });
    add(day.outcomes, outcome, calls);
    if (step === null) continue;
    const times = day.times.get(operation) ?? new Map<number, number>();
    day.times.set(operation, add(times, step, calls));
  }
  return day;
}

function toHistory(dates: string[], days: Day[]): OverviewHistory {
  const outcomes = new Map<CallState, number>();
  const times = new Map<string, Times>();
  for (const day of days) {
    for (const [outcome, calls] of day.outcomes) add(outcomes, outcome, calls);
    for (const [operation, more] of day.times) {
      const all = times.get(operation) ?? new Map<number, number>();
      for (const [step, calls] of more) add(all, step, calls);
      times.set(operation, all);
    }
  }
  return {
    days: days.flatMap(({ operations }, index) => toOperations(dates[index] ?? '', operations)),
    outcomes: [...outcomes].map(([outcome, calls]) => ({ outcome, calls })).sort(byCalls('outcome')),
    upstream_ms: [...times].map(([operation, all]) => toLatency(operation, all)).sort(byCalls('operation')),
  };
}

function toOperations(day: string, operations: Day['operations']): OperationDay[] {
  return [...operations]
    .map(([operation, { calls, items, usd }]) => {
      const amounts = Object.fromEntries(AMOUNTS.map((name) => [name, usd[name].toFixed()]));
      return { day, operation, calls, items, ...(amounts as Record<(typeof AMOUNTS)[number], string>) };
    })
    .sort(byCalls('operation'));
}

function toLatency(operation: string, times: Times): OperationLatency {
  const calls = [...times.values()].reduce((sum, count) => sum + count, 0);
  const [p50, p95, p99] = [percentile(times, 0.5), percentile(times, 0.95), percentile(times, 0.99)];
  return { operation, calls, p50, p95, p99 };
}

function add<Key>(counts: Map<Key, number>, key: Key, calls: number): Map<Key, number> {
  return counts.set(key, (counts.get(key) ?? 0) + calls);
}

/** Compares by the number of calls, then by name for a stable order. */
function byCalls<Name extends string>(name: Name) {
  type CallCount = { calls: number } & Record<Name, string>;
  return (a: CallCount, b: CallCount) => b.calls - a.calls || (a[name] < b[name] ? -1 : 1);
}
