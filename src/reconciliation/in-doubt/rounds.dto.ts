import { ApiProperty } from '@nestjs/swagger';

const orNull = (description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type: 'string', ...more }, { type: 'null' }], description });

export const VERDICTS = ['confirmed', 'not_executed', 'ambiguous'] as const;

/** What a round found out about one call. */
export class RoundVerdict {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'The call.' }) call_id!: string;
  @ApiProperty({
    enum: VERDICTS,
    description:
      '`confirmed` and `not_executed` settle it. `ambiguous`: a person has to, unless a later round knows more.',
  })
  verdict!: (typeof VERDICTS)[number];
  @ApiProperty({ type: 'string', description: 'How that is known, or why not.' }) reason!: string;
}

/** What one look at the upstream did about calls in doubt. */
export class ResolverRound {
  @ApiProperty({ type: 'integer', description: 'Calls that pay or write and were in doubt.' }) in_doubt!: number;
  @ApiProperty({ type: 'integer', description: 'Of them, those that were polled.' }) polled!: number;
  @orNull("The look at the upstream's transactions; null where none was needed.", { format: 'uuid' })
  read_id!: string | null;
  @orNull('Why they could not be had, in a word; null where they could. The next round tries again.', {
    example: 'timeout',
  })
  failure!: string | null;
  @ApiProperty({ type: [RoundVerdict], description: 'What was found out anew.' }) verdicts!: RoundVerdict[];
}
