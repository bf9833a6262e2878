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
  @OneOf(GROUPS, 'Property to group by. Default: `day`.') group_by?: GroupBy;
}

class Latency {
  @nullable(NUMBER, 'Median. Null without answers.') p50!: number | null;
  @nullable(NUMBER, '95th percentile.') p95!: number | null;
  @nullable(NUMBER, '99th percentile.') p99!: number | null;
}

export class SummaryGroup extends PayoutSums {
  @described(
    { ...orNull(TEXT), example: '2026-11-20' },
    'Day (UTC), client ID, operation, country code (ISO 3166-1), or outcome. Null for payouts without a ' +
      'country. An unknown country has a key of letters and digits.',
  )
  group!: string | null;
  @nullable(TEXT, 'Name of the client or the country. Null for other groups.') name!: string | null;
  @described(COUNT, 'Number of calls. By country: calls with a payout there.') calls!: number;
  @described(COUNT, 'Number of payouts.') items!: number;
  @described({ type: Latency }, 'Response times of the upstream in milliseconds.') upstream_ms!: Latency;
}

export class Summary {
  @described({ enum: GROUPS }, 'Property of the groups.') group_by!: GroupBy;
  @described({ type: [SummaryGroup] }, 'Days are newest first. Other groups start with the most calls.')
  groups!: SummaryGroup[];
  @described(BOOLEAN, 'Whether groups after the first 1000 were omitted.') cut!: boolean;
}
