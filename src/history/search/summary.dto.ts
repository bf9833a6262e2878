import { OneOf } from '../../http/validation/rules/query-rules';
import { FEES_HELP, SUMS } from '../../operations/lifecycle/sums';
import { described, USD, BOOLEAN, COUNT, nullable, NUMBER, orNull, TEXT } from '../../platform/schema/fields';
import { SearchFilters } from './search.dto';

/** The sums of payouts in US dollars, exact. */
export class PayoutSums {
  @described(
    USD,
    'Amounts of all payouts, in any state: `paid_usd` + `pending_usd` + `returned_usd` + `not_executed_usd`.',
  )
  asked_usd!: string;
  @described(USD, SUMS.paid_usd.help) paid_usd!: string;
  @described(USD, SUMS.pending_usd.help) pending_usd!: string;
  @described(USD, SUMS.returned_usd.help) returned_usd!: string;
  @described(USD, SUMS.not_executed_usd.help) not_executed_usd!: string;
  @described(USD, FEES_HELP) fees_usd!: string;
}

const GROUPS = ['day', 'client', 'operation', 'country', 'outcome'] as const;
export type GroupBy = (typeof GROUPS)[number];

export class SummarySearch extends SearchFilters {
  @OneOf(GROUPS, 'What to group by. Default: `day`.') group_by?: GroupBy;
}

class Latency {
  @nullable(NUMBER, 'Median. Null without answers.') p50!: number | null;
  @nullable(NUMBER, '95th percentile.') p95!: number | null;
  @nullable(NUMBER, '99th percentile.') p99!: number | null;
}

export class SummaryGroup extends PayoutSums {
  @described(
    { ...orNull(TEXT), example: '2026-11-20' },
    'The day (UTC), client ID, operation, country code (ISO 3166-1; null: none), or outcome. A country ' +
      'that is not known has a key of letters and digits.',
  )
  group!: string | null;
  @nullable(TEXT, 'Name of the client or the country. Null for other groups.') name!: string | null;
  @described(COUNT, 'Number of calls. By country: calls with a payout there.') calls!: number;
  @described(COUNT, 'Number of payouts.') items!: number;
  @described({ type: Latency }, 'Response times of the upstream in milliseconds.') upstream_ms!: Latency;
}

export class Summary {
  @described({ enum: GROUPS }, 'What the summary is grouped by.') group_by!: GroupBy;
  @described({ type: [SummaryGroup] }, 'Days are newest first. Other groups start with the most calls.')
  groups!: SummaryGroup[];
  @described(BOOLEAN, 'Whether groups were omitted. At most 1000 are shown.') cut!: boolean;
}
