import { OneOf } from '../../http/validation/rules/query-rules';
import { Text } from '../../http/validation/rules/rules';
import { OperationFees } from '../../journal/admission/expected-fees';
import { FEE_OPERATIONS, writeFeeRule } from '../../operations/items/fees';
import { LearnedFee } from '../../operations/items/learned-fees';
import { described, INTEGER, nullable, TEXT, USD } from '../../platform/schema/fields';

const DAY = { type: 'string', format: 'date' } as const;

export class FeeRemoval {
  @OneOf(FEE_OPERATIONS, 'Operation whose learned fees are forgotten.', { required: true })
  operation!: string;

  @Text({ max: 1_000, required: false, description: 'Reason for the record.', example: 'Case 17' })
  reason?: string;
}

/** An expected fee: the configured rule of an operation, or the learned fee of a size of payout. */
export class FeeRecord {
  @described(TEXT, 'Upstream account.') account!: string;
  @described(TEXT, 'Operation.') operation!: string;
  @nullable(TEXT, 'Configured rule, such as `1.5%+0.05 min 0.10`. Null for a learned fee.')
  rule!: string | null;
  @nullable(USD, 'Smallest amount of the size, in US dollars.') from_usd!: string | null;
  @nullable(USD, 'Amount in US dollars above the size.') below_usd!: string | null;
  @nullable(USD, 'Learned fee of a payout of this size, in US dollars. Null for a rule.')
  fee_usd!: string | null;
  @nullable(INTEGER, 'Number of known calls of the last 30 days that were charged at least as much.')
  calls!: number | null;
  @nullable(DAY, 'Last day of such a call, in UTC.') last_charged_on!: string | null;
}

export class Fees {
  @described({ type: [FeeRecord] }, 'By account, operation and size.') fees!: FeeRecord[];
}

export class ForgottenFees {
  @described({ type: [FeeRecord] }, 'The fees that are not expected any more.') forgotten!: FeeRecord[];
}

export function toFeeRecords({ account, operation, rule, learned }: OperationFees): FeeRecord[] {
  const of = { account, operation };
  const size = { from_usd: null, below_usd: null, fee_usd: null, calls: null, last_charged_on: null };
  if (rule) return [{ ...of, rule: writeFeeRule(rule), ...size }];
  return learned.map((fee) => ({ ...of, rule: null, ...toSize(fee) }));
}

function toSize({ fromUsd, belowUsd, usd, calls, day }: LearnedFee) {
  return {
    from_usd: fromUsd.toFixed(),
    below_usd: belowUsd.toFixed(),
    fee_usd: usd.toFixed(),
    calls,
    last_charged_on: day,
  };
}
