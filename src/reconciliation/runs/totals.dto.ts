import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { Incomplete, INCOMPLETE_REASONS, IncompleteReason } from '../matching/completeness';
import { Day, Sum, Totals } from '../matching/totals';

const COUNT = { type: 'integer', minimum: 0 } as const;
const count = (description: string) => ApiProperty({ ...COUNT, description });
const usd = (description: string) => ApiProperty({ type: 'string', pattern: '^-?\\d+(\\.\\d+)?$', description });
const counts = (description: string) => ApiProperty({ type: 'object', additionalProperties: COUNT, description });

class SumRecord implements Sum {
  @count('The number of them.') count!: number;
  @usd('Their total in US dollars, exact decimal text.') usd!: string;
}

class MatchedRecord {
  @count('The number of payments that match a transaction.') count!: number;
  @counts('By matching rule: `upstream_ref`, `upstream_id`, `batch_ref`, `reference`, or similarity.')
  by_rule!: Record<string, number>;
  @counts('By certainty: `certain`, `probable` or `possible`.') by_certainty!: Record<string, number>;
}

@ApiExtraModels(SumRecord)
class FoundRecord {
  @count('Findings.') count!: number;
  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(SumRecord) },
    description: 'By category. Categories without findings are left out.',
  })
  by_category!: Record<string, SumRecord>;
}

class DayRecord implements Day {
  @ApiProperty({ type: 'string', format: 'date', description: 'The day in UTC.' }) day!: string;
  @count('Matches, by the day of our payment.') matched!: number;
  @count('Payments without a transaction.') ours_only!: number;
  @count('Transactions without a payment.') theirs_only!: number;
  @usd('Total of our payments.') ours_usd!: string;
  @usd("Total of the upstream's transactions.") theirs_usd!: string;
}

class IncompleteRecord implements Incomplete {
  @ApiProperty({ enum: INCOMPLETE_REASONS, description: 'The reason.' }) reason!: IncompleteReason;
  @ApiProperty({ type: 'string', description: 'A readable explanation, with what to do about it.' }) detail!: string;
}

/** `theirs` − `ours` = findings + `within_tolerance_usd` + `residual_usd`, exactly. */
export class TotalsRecord implements Totals {
  @ApiProperty({ type: SumRecord, description: 'Our payments, with the expected fees.' })
  ours!: SumRecord;
  @ApiProperty({ type: SumRecord, description: "The upstream's transactions, with their fees." }) theirs!: SumRecord;
  @ApiProperty({ type: MatchedRecord, description: 'The payments that both sides have.' }) matched!: MatchedRecord;
  @ApiProperty({ type: FoundRecord, description: 'The differences.' }) findings!: FoundRecord;
  @ApiProperty({
    type: SumRecord,
    description: 'Payments in doubt without a transaction, and other calls in doubt that change something.',
  })
  in_doubt!: SumRecord;
  @ApiProperty({
    type: [IncompleteRecord],
    description: 'Reasons why the listing or the comparison is not reliable. While there is one, no finding is closed.',
  })
  incomplete!: IncompleteRecord[];
  @count(
    'Payouts that the listing lacks, but that the upstream returns when they are looked up by name. The listing is ' +
      'then incomplete.',
  )
  unlisted!: number;
  @usd('Total of the differences within tolerance.') within_tolerance_usd!: string;
  @usd('Unexplained rest. It must be zero. Otherwise the comparison itself is wrong.') residual_usd!: string;
  @ApiProperty({ type: [DayRecord], description: 'The same by day, oldest first.' }) by_day!: DayRecord[];
}
