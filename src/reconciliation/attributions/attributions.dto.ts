import { Account, Uuid } from '../../http/validation/rules/query-rules';
import { field, NotForwarded, Text, WordList } from '../../http/validation/rules/rules';
import { readPayoutId } from '../../operations/catalogue/payout-id';
import { isUuid } from '../../platform/database/uuid';
import { described, INSTANT, nullable, TEXT, USD, UUID } from '../../platform/schema/fields';
import { Ground, GROUNDS } from '../book/pairing/grounds';

const isPayoutId = (value: unknown) =>
  typeof value === 'string' && value.includes('.') && readPayoutId(value) !== undefined;

const PAYOUT_ID = { type: 'string', maxLength: 60 } as const;

@NotForwarded()
export class AttributionDto {
  @field(
    { required: true, must: 'must be a payout_id, such as <call ID>.0', test: isPayoutId },
    { ...PAYOUT_ID, description: '`payout_id` of the payout.' },
  )
  payout_id!: string;

  @field(
    {
      required: true,
      must: 'must be the ID of a transaction of the book',
      test: (value) => typeof value === 'string' && isUuid(value),
    },
    { ...UUID, description: 'ID of its transaction in the book.' },
  )
  transaction_id!: string;

  @WordList(
    {
      required: false,
      must: 'must be a list of one or two payout_id',
      test: (value) =>
        Array.isArray(value) && value.length > 0 && value.length <= 2 && value.every(isPayoutId),
    },
    {
      items: PAYOUT_ID,
      minItems: 1,
      maxItems: 2,
      description:
        'Each payout that loses its transaction: this one, if it has another transaction, and the payout ' +
        'that has this transaction.',
    },
  )
  supersedes?: string[];

  @Text({
    max: 1_000,
    description: 'The evidence, for later readers of the record.',
    example: 'The provider confirmed it in case 17.',
  })
  reason!: string;
}

export class BookSearch {
  @Account('The upstream account. Default: `main`.') account?: string;

  @Text({
    max: 200,
    required: false,
    description: 'Exact `upstream_ref` or `upstream_id` of the transactions.',
    example: 'ref-17',
  })
  name?: string;

  @Uuid('ID of a call whose payouts have the transactions.') call_id?: string;
}

/** A transaction of the upstream with its payout. It names no person. */
export class BookTransactionRecord {
  @described(UUID, 'ID of the transaction in the book.') id!: string;
  @nullable(TEXT, "The upstream's reference.") upstream_ref!: string | null;
  @nullable(TEXT, "The upstream's ID.") upstream_id!: string | null;
  @nullable(TEXT, 'ID of its batch at the upstream.') batch_ref!: string | null;
  @nullable(INSTANT, 'Issue time, as the upstream states it.') issued_at!: Date | null;
  @nullable(USD, 'Amount in US dollars.') amount_usd!: string | null;
  @nullable(USD, 'Fee in US dollars.') fee_usd!: string | null;
  @nullable(TEXT, "The upstream's status word.") status!: string | null;
  @nullable(TEXT, '`payout_id` of its payout. Null without one.') payout_id!: string | null;
  @nullable({ enum: Object.keys(GROUNDS) }, 'The rule that attributes it.') ground!: Ground | null;
  @nullable(INSTANT, 'Time of the attribution.') attributed_at!: Date | null;
}

export class BookTransactions {
  @described({ type: [BookTransactionRecord] }, 'At most 200.') transactions!: BookTransactionRecord[];
}
