import { described, INTEGER, nullable, TEXT, UUID } from '../../../platform/schema/fields';

const VERDICTS = ['confirmed', 'not_executed', 'ambiguous'] as const;

/** The conclusion of a round about one call. */
class RoundVerdict {
  @described(UUID, "The call's ID.") call_id!: string;
  @described(
    { enum: VERDICTS },
    '`confirmed` and `not_executed` settle the call. `ambiguous` means that a person must settle it, ' +
      'unless a later round can.',
  )
  verdict!: (typeof VERDICTS)[number];
  @described(TEXT, 'Reason for the verdict.') reason!: string;
}

/** The listing of the transactions of one account. */
class RoundRead {
  @described({ type: 'string', example: 'main' }, 'The upstream account.') account!: string;
  @nullable(UUID, 'The ID of the reading. Null if none was needed.') read_id!: string | null;
  @nullable(TEXT, 'Code of the failure to read it. Null if it was read.') failure!: string | null;
}

/** The result of one poll of the calls in doubt. */
export class ResolverRound {
  @described(INTEGER, 'The number of calls in doubt that pay or write.') in_doubt!: number;
  @described(INTEGER, 'Number of calls polled.') polled!: number;
  @nullable(
    { ...TEXT, example: 'timeout' },
    'Code of the failure to poll calls. Null if all could. The next round tries again.',
  )
  failure!: string | null;
  @described({ type: [RoundRead] }, 'The listing of each upstream account that had calls to poll.')
  reads!: RoundRead[];
  @described({ type: [RoundVerdict] }, 'The new verdicts.') verdicts!: RoundVerdict[];
}
