import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import {
  COUNT,
  described,
  INSTANT,
  INTEGER,
  nullable,
  SIGNED_USD,
  TEXT,
  UUID,
} from '../../platform/schema/fields';
import { Flow, FLOWS } from '../book/flows';

/** Number and total of payments or entries. */
export class SumRecord {
  @described(COUNT, 'The number of them.') count!: number;
  @described(SIGNED_USD, 'Their total in US dollars, exact decimal text.') usd!: string;
}

class MatchedRecord {
  @described(COUNT, 'The number of payments that match a transaction.') count!: number;
  @described(
    { type: 'object', additionalProperties: COUNT },
    'By matching rule: `upstream_ref`, `upstream_id`, `batch_ref`, `reference`, or similarity.',
  )
  by_rule!: Record<string, number>;
  @described(
    { type: 'object', additionalProperties: COUNT },
    'By certainty: `certain`, `probable` or `possible`.',
  )
  by_certainty!: Record<string, number>;
}

@ApiExtraModels(SumRecord)
class FoundRecord {
  @described(COUNT, 'Findings.') count!: number;
  @described(
    { type: 'object', additionalProperties: { $ref: getSchemaPath(SumRecord) } },
    'By category. Categories without findings are left out.',
  )
  by_category!: Record<string, SumRecord>;
}

export class DayRecord {
  @described({ type: 'string', format: 'date' }, 'The day in UTC.') day!: string;
  @described(COUNT, 'Matches, by the day of our payment.') matched!: number;
  @described(COUNT, 'Payments without a transaction.') ours_only!: number;
  @described(COUNT, 'Transactions without a payment.') theirs_only!: number;
  @described(SIGNED_USD, 'Total of our payments.') ours_usd!: string;
  @described(SIGNED_USD, "Total of the upstream's transactions.") theirs_usd!: string;
}

/** Reasons why a run without findings is not clean. */
const INCOMPLETE_REASONS = [
  'listing_empty',
  'listing_starts_late',
  'listing_shorter',
  'listing_lacks_known',
  'listing_lacks_payouts',
  'sums_differ',
  'entries_start_late',
  'entries_outdated',
] as const;
export type IncompleteReason = (typeof INCOMPLETE_REASONS)[number];

/** A reason, with advice. It identifies no person. */
export class IncompleteRecord {
  @described({ enum: INCOMPLETE_REASONS }, 'The reason.') reason!: IncompleteReason;
  @described(TEXT, 'A readable explanation, with what to do about it.') detail!: string;
}

/**
 * Reasons why a period is not settled: a call with an unknown outcome (`in_doubt`), a transaction that is not
 * final (`pending`), or a transaction with an unrecognised status (`ambiguous`).
 */
const DOUBTS = ['in_doubt', 'pending', 'ambiguous'] as const;
export type DoubtKind = (typeof DOUBTS)[number];

/** A call or transaction in doubt. It identifies no person. */
export class DoubtRecord {
  @described(
    { enum: DOUBTS },
    '`in_doubt`: a call with an unknown outcome. `pending`: a transaction without a final status. ' +
      '`ambiguous`: a transaction with an unknown status.',
  )
  kind!: DoubtKind;
  @nullable(UUID, 'The call. Null for a transaction that our records do not have.') call_id!: string | null;
  @nullable(INTEGER, "The payment's position in the call, from 0. Null for a whole call.")
  position!: number | null;
  @nullable(TEXT, "The operation's name.") operation!: string | null;
  @nullable(TEXT, "The upstream's reference. Null without a transaction.") upstream_ref!: string | null;
  @nullable(TEXT, "The upstream's status. Null without a transaction.") status!: string | null;
  @nullable(INSTANT, 'Time of the transaction, or else of the call.') at!: string | null;
  @nullable(TEXT, 'Amount in US dollars, decimal text.') usd!: string | null;
}

/** opening + flows + gap = closing, exactly. */
@ApiExtraModels(SumRecord)
export class WalletRecord {
  @described(TEXT, 'The ID of the wallet.') wallet_id!: string;
  @nullable(TEXT, 'Its type.') type!: string | null;
  @nullable(TEXT, 'The balance at the start of the period. Null if the upstream shows none.')
  opening_usd!: string | null;
  @nullable(TEXT, 'The balance at the end of the period.') closing_usd!: string | null;
  @described(
    { type: 'object', additionalProperties: { $ref: getSchemaPath(SumRecord) } },
    'The entries of the period by kind, negative where the wallet lost value: ' +
      `${FLOWS.map((flow) => `\`${flow}\``).join(', ')}. ` +
      'Fees within an entry are summed as `fee`, and not counted. Kinds without entries are left out.',
  )
  flows!: Partial<Record<Flow, SumRecord>>;
  @described(SIGNED_USD, 'Change of the balance without an entry. Each gap is a finding.')
  gap_usd!: string;
  @nullable(
    INSTANT,
    'Time of the oldest shown entry, if it is after the start of the period. The opening balance is of ' +
      'this time.',
  )
  shown_since!: string | null;
}

/** `theirs` − `ours` = findings + `within_tolerance_usd` + `residual_usd`, exactly. */
export class TotalsRecord {
  @described({ type: SumRecord }, 'Our payments, with the expected fees.') ours!: SumRecord;
  @described({ type: SumRecord }, "The upstream's transactions, with their fees.") theirs!: SumRecord;
  @described({ type: MatchedRecord }, 'The payments that both sides have.') matched!: MatchedRecord;
  @described({ type: FoundRecord }, 'The differences.') findings!: FoundRecord;
  @described(
    { type: SumRecord },
    'Calls with an unknown outcome, unless a transaction shows that money moved.',
  )
  in_doubt!: SumRecord;
  @described({ type: SumRecord }, 'Transactions without a final status.') pending!: SumRecord;
  @described({ type: SumRecord }, 'Transactions with an unknown status.') ambiguous!: SumRecord;
  @described({ type: [DoubtRecord] }, 'The oldest 100 of these, oldest first.') doubts!: DoubtRecord[];
  @described(
    { type: [WalletRecord] },
    'Each wallet: `opening_usd` + `flows` + `gap_usd` = `closing_usd`, exactly. Empty if none was read.',
  )
  wallets!: WalletRecord[];
  @described(
    { type: 'object', additionalProperties: { $ref: getSchemaPath(SumRecord) } },
    'Listed transactions other than payments, by kind, such as `top_up` or `refund`. Sums have no signs. ' +
      'Refunds, reversals and fees are also findings.',
  )
  aside!: Record<string, SumRecord>;
  @described(
    { type: [IncompleteRecord] },
    'Reasons why the listing or the comparison is not reliable. While there is one, no finding is closed.',
  )
  incomplete!: IncompleteRecord[];
  @described(
    COUNT,
    'Payouts that the listing lacks and the upstream returns by name. Above 0, the listing is incomplete.',
  )
  unlisted!: number;
  @described(SIGNED_USD, 'Total of the differences within tolerance.') within_tolerance_usd!: string;
  @described(SIGNED_USD, 'Unexplained rest. It must be zero. Otherwise the comparison itself is wrong.')
  residual_usd!: string;
  @described({ type: [DayRecord] }, 'The same by day, oldest first.') by_day!: DayRecord[];
}
