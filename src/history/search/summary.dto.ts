import { ApiProperty } from '@nestjs/swagger';
import { OneOf } from '../../http/validation/query-rules';
import { EXECUTED_HELP } from '../../operations/lifecycle';
import { SearchFilters } from './search.dto';

export const GROUPS = ['day', 'client', 'operation', 'country', 'outcome'] as const;
export type GroupBy = (typeof GROUPS)[number];

export class SummarySearch extends SearchFilters {
  @OneOf(GROUPS, 'By what calls and payouts are counted; without it, `day`.')
  group_by?: GroupBy;
}

const milliseconds = (description: string) =>
  ApiProperty({ anyOf: [{ type: 'number' }, { type: 'null' }], description });
const count = (description: string) => ApiProperty({ type: 'integer', minimum: 0, description });
const usd = (description: string) =>
  ApiProperty({ type: 'string', pattern: '^\\d+(\\.\\d+)?$', example: '1234.5', description });

export class Latency {
  @milliseconds('Half of the answers took no longer; null where there are none.') p50!: number | null;
  @milliseconds('95 of 100 answers took no longer.') p95!: number | null;
  @milliseconds('99 of 100 answers took no longer.') p99!: number | null;
}

export class SummaryGroup {
  @ApiProperty({
    anyOf: [{ type: 'string' }, { type: 'null' }],
    description: "The day (UTC), the client's id, the operation, the country as given (null: none), or the outcome.",
    example: '2026-11-20',
  })
  group!: string | null;
  @ApiProperty({ anyOf: [{ type: 'string' }, { type: 'null' }], description: 'Of a client, its name; else null.' })
  name!: string | null;
  @count('Calls; by country, those with a payout there.') calls!: number;
  @count('Payouts.') items!: number;
  @usd('Sum of these payouts in US dollars, exact; whatever became of them.') asked_usd!: string;
  @usd(`The same of calls that were carried out. ${EXECUTED_HELP}`) succeeded_usd!: string;
  @ApiProperty({
    type: Latency,
    description: 'How long the upstream took, in milliseconds, of each call that was sent.',
  })
  upstream_ms!: Latency;
}

export class Summary {
  @ApiProperty({ enum: GROUPS, description: 'By what it is counted.' }) group_by!: GroupBy;
  @ApiProperty({ type: [SummaryGroup], description: 'Days, newest first; others, those with most calls first.' })
  groups!: SummaryGroup[];
  @ApiProperty({ type: 'boolean', description: 'Whether there are more groups than the thousand that are shown.' })
  cut!: boolean;
}
