import { ApiProperty } from '@nestjs/swagger';
import { Day, Sum, Totals } from '../matching/totals';

const count = (description: string) => ApiProperty({ type: 'integer', description });
const usd = (description: string) =>
  ApiProperty({ type: 'string', pattern: '^-?\\d+(\\.\\d+)?$', example: '1.5', description });
const counts = (description: string) =>
  ApiProperty({ type: 'object', additionalProperties: { type: 'integer' }, description });

export class RunSum implements Sum {
  @count('How many.') count!: number;
  @usd('What they add up to, in US dollars; decimal text, exact.') usd!: string;
}

export class RunMatches {
  @count('How many payments have their transaction.') count!: number;
  @counts('The same by the rule that paired them.') by_rule!: Record<string, number>;
  @counts('The same by how sure the pair is.') by_certainty!: Record<string, number>;
}

export class RunFindings {
  @count('How many.') count!: number;
  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: '#/components/schemas/RunSum' },
    description: "By category, and what they add to the upstream's total.",
  })
  by_category!: Record<string, RunSum>;
}

export class RunDay implements Day {
  @ApiProperty({ type: 'string', format: 'date', description: 'In UTC.' }) day!: string;
  @count('Pairs.') matched!: number;
  @count('Payments of ours without a transaction.') ours_only!: number;
  @count('Transactions without a payment of ours.') theirs_only!: number;
  @usd('What ours add up to.') ours_usd!: string;
  @usd('What theirs add up to.') theirs_usd!: string;
}

/**
 * What a run says of its period: theirs = ours + findings + what lay within the tolerances + a residual, which is zero or
 * there is a mistake in the comparison.
 */
export class RunTotals implements Totals {
  @ApiProperty({ type: RunSum, description: 'Our payments by which money moved, with the expected fees.' })
  ours!: RunSum;
  @ApiProperty({ type: RunSum, description: "The upstream's transactions, with their fees." }) theirs!: RunSum;
  @ApiProperty({ type: RunMatches, description: 'What was paired.' }) matched!: RunMatches;
  @ApiProperty({ type: RunFindings, description: 'What differs.' }) findings!: RunFindings;
  @ApiProperty({ type: RunSum, description: 'Payments of which nobody knows yet, without a transaction.' })
  in_doubt!: RunSum;
  @count('Payouts that the upstream shows by name and its listing lacks: then the listing is not whole.')
  unlisted!: number;
  @usd('What differences within the tolerances add up to.') within_tolerance_usd!: string;
  @usd('What nothing explains.') residual_usd!: string;
  @ApiProperty({ type: [RunDay], description: 'Day by day.' }) by_day!: RunDay[];
}
