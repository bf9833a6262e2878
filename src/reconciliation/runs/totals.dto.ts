import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { Incomplete, INCOMPLETE_REASONS, IncompleteReason } from '../matching/completeness';
import { Day, Sum, Totals } from '../matching/totals';

const COUNT = { type: 'integer', minimum: 0 } as const;
const count = (description: string) => ApiProperty({ ...COUNT, description });
const usd = (description: string) => ApiProperty({ type: 'string', pattern: '^-?\\d+(\\.\\d+)?$', description });
const counts = (description: string) => ApiProperty({ type: 'object', additionalProperties: COUNT, description });

export class SumRecord implements Sum {
  @count('How many.') count!: number;
  @usd('What they add up to, in US dollars; decimal text, exact.') usd!: string;
}

export class MatchedRecord {
  @count('Payments that have their transaction.') count!: number;
  @counts('By what they were recognised: `upstream_ref`, `upstream_id`, `batch_ref`, `reference`, or their likeness.')
  by_rule!: Record<string, number>;
  @counts('How sure that is: `certain`, `probable`, `possible`.') by_certainty!: Record<string, number>;
}

@ApiExtraModels(SumRecord)
export class FoundRecord {
  @count('Findings.') count!: number;
  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(SumRecord) },
    description: 'By category, of those that there are.',
  })
  by_category!: Record<string, SumRecord>;
}

export class DayRecord implements Day {
  @ApiProperty({ type: 'string', format: 'date', description: 'The day, UTC.' }) day!: string;
  @count('Pairs, on the day of our payment.') matched!: number;
  @count('Payments without a transaction.') ours_only!: number;
  @count('Transactions without a payment.') theirs_only!: number;
  @usd('What our payments add up to.') ours_usd!: string;
  @usd("What the upstream's transactions add up to.") theirs_usd!: string;
}

export class IncompleteRecord implements Incomplete {
  @ApiProperty({ enum: INCOMPLETE_REASONS, description: 'The reason.' }) reason!: IncompleteReason;
  @ApiProperty({ type: 'string', description: 'The same for people, with what to do about it.' }) detail!: string;
}

/** `theirs` − `ours` = findings + `within_tolerance_usd` + `residual_usd`, exactly. */
export class TotalsRecord implements Totals {
  @ApiProperty({ type: SumRecord, description: 'Our payments, with the fees that were to be expected.' })
  ours!: SumRecord;
  @ApiProperty({ type: SumRecord, description: "The upstream's transactions, with their fees." }) theirs!: SumRecord;
  @ApiProperty({ type: MatchedRecord, description: 'What both sides have.' }) matched!: MatchedRecord;
  @ApiProperty({ type: FoundRecord, description: 'What differs.' }) findings!: FoundRecord;
  @ApiProperty({
    type: SumRecord,
    description: 'Payments in doubt that no transaction belongs to, and other calls in doubt that change something.',
  })
  in_doubt!: SumRecord;
  @ApiProperty({
    type: [IncompleteRecord],
    description: 'Why the listing, or the comparison, cannot be relied on. While there is a reason, nothing is closed.',
  })
  incomplete!: IncompleteRecord[];
  @count('Payouts that the upstream shows when asked for them by name, and its listing lacks: it is not whole.')
  unlisted!: number;
  @usd('What differences too small to be findings add up to.') within_tolerance_usd!: string;
  @usd('What nothing explains: zero, or the comparison itself is wrong.') residual_usd!: string;
  @ApiProperty({ type: [DayRecord], description: 'The same by day, oldest first.' }) by_day!: DayRecord[];
}
