import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { stateAtSql } from '../../operations/lifecycle/lifecycle-sql';
import { SUM_COLUMNS, SumRow, sumsOfEntry, sumsOfPayouts, TOTALS } from '../../operations/lifecycle/sums-sql';
import { Prisma } from '../../platform/database/generated/client';
import { RESTED } from '../../platform/database/pools/pacing';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { ReplicaService } from '../../platform/database/pools/replica.service';
import { maskContacts } from '../../platform/privacy/contacts';
import { countryName } from '../../recipients/country-name';
import { PresentService } from '../records/records.service';
import { shown, readClients } from '../records/view';
import { filtersItems } from './filters';
import { countedPayouts, matching, Scope } from './matching';
import { withNamed } from './names';
import { SearchService } from './search.service';
import { PayoutSums, GroupBy, Summary, SummaryGroup, SummarySearch } from './summary.dto';

/** Maximum number of groups: almost three years of days. Callers may send any text as a country. */
const MAX_GROUPS = 1_000;

/** Country of a payout, from its terms. Collation "C" is many times as fast as that of a language. */
const COUNTRY = Prisma.sql`
  nullif(split_part(split_part(payout, E'\ncountry:', 2), E'\n', 1), '') COLLATE "C"`;

interface GroupRow extends SumRow {
  group: string | null;
  calls: number;
  items: number;
  requested: string;
  latency: (number | null)[] | null;
}

interface SummaryRequest {
  /** Whether to show people in callers' country texts. */
  reveal: boolean;
  /** Cancels the count. */
  gone: AbortSignal | undefined;
  /** Whether the count pauses for payments, which need the database. */
  rests: boolean;
}

/** Counts the results of a search. */
@Injectable()
export class SummaryService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly replica: ReplicaService,
    private readonly present: PresentService,
    private readonly searching: SearchService,
  ) {}

  async summarize(
    { group_by: groupBy = 'day', ...search }: SummarySearch,
    { reveal, gone, rests }: SummaryRequest,
  ): Promise<Summary> {
    const word = stateAtSql(await this.present.read());
    const scope = await this.searching.prepare(search, 'all', { gone });
    const groups: Record<GroupBy, Prisma.Sql> = {
      day: Prisma.sql`('1970-01-01'::date + search_day(call_id))::text`,
      client: Prisma.sql`client_id::text`,
      operation: Prisma.sql`operation`,
      country: Prisma.sql`counted.country`,
      outcome: word,
    };
    const order = groupBy === 'day' ? Prisma.sql`1 DESC` : Prisma.sql`2 DESC, 1`;
    const isOfPayouts = groupBy === 'country' || filtersItems(search) || search.upstream_ref !== undefined;
    const counted = isOfPayouts
      ? Prisma.sql`counted.items, counted.usd`
      : Prisma.sql`cardinality(item_usd) AS items, total_usd AS usd`;
    const sums = isOfPayouts
      ? sumsOfMatching(countedPayouts(scope, search.upstream_ref), word, groupBy)
      : sumsOfEntry(word);
    const rested = rests ? RESTED : Prisma.sql`TRUE`; // Once per read row, and once per summed row.
    const sqlOf = (named: Scope) => Prisma.sql`
      SELECT "group", count(*) FILTER (WHERE rested AND ${rested})::float8 AS calls,
        sum(items)::float8 AS items,
        trim_scale(coalesce(sum(usd), 0))::text AS requested, ${TOTALS},
        percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY ms) AS latency
      FROM (
        SELECT ${groups[groupBy]} AS "group", ${counted}, ${Prisma.raw(SUM_COLUMNS.join(', '))},
          upstream_ms::float8 AS ms, ${rested} AS rested
        FROM indexed_call CROSS JOIN ${sums} WHERE ${matching(named)}
      ) AS found
      GROUP BY "group" ORDER BY ${order} LIMIT ${MAX_GROUPS + 1}`;
    const read = async (reader: ReaderPrisma) =>
      reader.readLong<GroupRow>(sqlOf(await withNamed(reader, scope, gone)), gone);
    const rows = await this.replica.read(read, { index: true, signal: gone });
    const names = await this.namesOf(groupBy, rows);
    return {
      group_by: groupBy,
      groups: rows.slice(0, MAX_GROUPS).map((row) => toGroup(row, names, reveal)),
      cut: rows.length > MAX_GROUPS,
    };
  }

  /** Sums the payouts requested by clients of an account in a period. */
  async sumsOf(account: string, from: Date, to: Date, rests: boolean): Promise<PayoutSums> {
    const period = { account, from: from.toISOString(), to: to.toISOString() };
    const options = { reveal: false, gone: undefined, rests };
    const { groups } = await this.summarize({ ...period, group_by: 'operation' }, options);
    const sum = (name: keyof PayoutSums) =>
      groups.reduce((total, group) => total.plus(group[name]), new Decimal(0)).toFixed();
    const sums = SUM_COLUMNS.map((name) => [name, sum(name)] as const);
    return { asked_usd: sum('asked_usd'), ...(Object.fromEntries(sums) as SumRow) };
  }

  /** Returns the names of clients by their IDs, and of countries by their codes. */
  private async namesOf(groupBy: GroupBy, rows: GroupRow[]): Promise<Map<string | null, string | null>> {
    if (groupBy === 'country') return new Map(rows.map(({ group }) => [group, group && countryName(group)]));
    if (groupBy !== 'client') return new Map();
    const ids = rows.map(({ group }) => group);
    return new Map([...(await readClients(this.prisma, ids))].map(([id, { name }]) => [id, name]));
  }
}

/** Returns the sums of the matching payouts of each call, by country on request. */
function sumsOfMatching(payouts: Prisma.Sql, word: Prisma.Sql, groupBy: GroupBy): Prisma.Sql {
  const country = groupBy === 'country' ? COUNTRY : Prisma.sql`NULL::text`;
  const columns = { usd: Prisma.sql`usd`, entry: Prisma.sql`entry`, fee: Prisma.sql`fee` };
  return Prisma.sql`LATERAL (
    SELECT ${country} AS country, count(*) FILTER (WHERE position >= 0) AS items, sum(usd) AS usd,
      ${sumsOfPayouts(columns, word)}
    FROM ${payouts} AS payout_of_call GROUP BY 1
  ) AS counted`;
}

function toGroup(
  { group, calls, items, requested, latency, ...sums }: GroupRow,
  names: ReadonlyMap<string | null, string | null>,
  reveal: boolean,
): SummaryGroup {
  const [p50 = null, p95 = null, p99 = null] = latency ?? [];
  return {
    group: shown(group, reveal, maskContacts),
    name: names.get(group) ?? null,
    calls,
    items,
    asked_usd: requested,
    ...sums,
    upstream_ms: { p50, p95, p99 },
  };
}
