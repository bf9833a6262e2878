import { ApiProperty } from '@nestjs/swagger';

const orNull = (description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type: 'string', ...more }, { type: 'null' }], description });

const VERDICTS = ['confirmed', 'not_executed', 'ambiguous'] as const;

/** The conclusion of a round about one call. */
class RoundVerdict {
  @ApiProperty({ type: 'string', format: 'uuid', description: "The call's ID." }) call_id!: string;
  @ApiProperty({
    enum: VERDICTS,
    description:
      '`confirmed` and `not_executed` settle the call. `ambiguous` means that a person must settle it, unless a ' +
      'later round can.',
  })
  verdict!: (typeof VERDICTS)[number];
  @ApiProperty({ type: 'string', description: 'Reason for the verdict.' }) reason!: string;
}

/** The listing of the transactions of one account. */
class RoundRead {
  @ApiProperty({ type: 'string', description: 'The upstream account.', example: 'main' }) account!: string;
  @orNull('The ID of the reading. Null if none was needed.', { format: 'uuid' }) read_id!: string | null;
  @orNull('Why it could not be read, as a code. Null if it was read.') failure!: string | null;
}

/** The result of one poll of the calls in doubt. */
export class ResolverRound {
  @ApiProperty({ type: 'integer', description: 'The number of calls in doubt that pay or write.' }) in_doubt!: number;
  @ApiProperty({ type: 'integer', description: 'How many of them were polled.' }) polled!: number;
  @orNull('Why calls could not be polled, as a code. Null if all could. The next round tries again.', {
    example: 'timeout',
  })
  failure!: string | null;
  @ApiProperty({ type: [RoundRead], description: 'The listing of each upstream account that had calls to poll.' })
  reads!: RoundRead[];
  @ApiProperty({ type: [RoundVerdict], description: 'The new verdicts.' }) verdicts!: RoundVerdict[];
}
