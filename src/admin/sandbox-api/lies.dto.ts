import { ApiProperty } from '@nestjs/swagger';
import { OneOf } from '../../http/validation/rules/query-rules';
import { field, NotForwarded, Text, WordList } from '../../http/validation/rules/rules';
import { described, INSTANT, INTEGER, nullable, NUMBER } from '../../platform/schema/fields';

/** A numeric setting. Only its range is checked here, the rest in the sandbox. */
export const Figure = (
  most: number,
  schema: { type: 'integer' | 'number'; minimum: number; description: string },
) =>
  field(
    {
      required: false,
      must:
        `must be a ${schema.type === 'integer' ? 'whole number' : 'number'} from ${schema.minimum} to ` +
        `${most}`,
      test: (value) =>
        typeof value === 'number' &&
        value >= schema.minimum &&
        value <= most &&
        (schema.type === 'number' || Number.isInteger(value)),
    },
    { ...schema, maximum: most },
  );

/** Types that the sandbox can omit from a list or list late, by list. */
export const LISTED_TYPES = {
  transactions: ['airtime', 'momo', 'credit', 'transfer', 'payment'],
  entries: [
    'payout',
    'transfer',
    'collection',
    'failure',
    'reversal',
    'refund',
    'expiry',
    'correction',
    'top_up',
    'withdrawal',
    'fee',
  ],
} as const;
export const LISTS = ['transactions', 'entries'] as const;
export const PLACES = ['listed', 'answered', 'events'] as const;
export const ENTRY_TYPES = ['top_up', 'withdrawal', 'fee'] as const;
const STATUSES = ['paid', 'pending', 'failed', 'reversed', 'refunded', 'expired', 'redeemed', 'unpaid'];
const WALLETS = ['airtime', 'momo', 'chi'];
const KNOWN_TYPES: string[] = [...LISTED_TYPES.transactions, ...LISTED_TYPES.entries];
const MOST_TYPES = 20;
const LONGEST_MS = 600_000;
const LONGEST_LIST = 1_000_000;
const LEAST_USD = 0.01;
const MOST_USD = 1_000_000;

const Flag = (description: string) =>
  field(
    { required: false, must: 'must be true or false', test: (value) => typeof value === 'boolean' },
    { type: 'boolean', description },
  );

@NotForwarded()
export class FeesDto {
  @Figure(100, { type: 'number', minimum: 0, description: 'Percent of each later payout.' }) percent?: number;

  @Flag('Whether the fee comes back when a payout fails, or is reversed or refunded.') returned?: boolean;
}

@NotForwarded()
export class ListingDelayDto {
  @OneOf(LISTED_TYPES.transactions, 'Type of transaction.', { required: true })
  type!: (typeof LISTED_TYPES.transactions)[number];

  @Figure(LONGEST_MS, { type: 'integer', minimum: 0, description: 'Age at which it is listed. Default: 0.' })
  ms?: number;
}

@NotForwarded()
export class StatusWordDto {
  @OneOf(PLACES, 'Where the word is shown: in lists, in the answers of other operations, or in events.', {
    required: true,
  })
  shown_in!: (typeof PLACES)[number];

  @OneOf(STATUSES, 'The true status.', { required: true }) status!: string;

  @Text({
    max: 50,
    required: false,
    description: 'The word to show. Default: the true one.',
    example: 'SETTLED_T2',
  })
  word?: string;
}

@NotForwarded()
export class ListLiesDto {
  @OneOf(LISTS, 'The list of transactions, or the entries of each wallet.', { required: true })
  list!: (typeof LISTS)[number];

  @field(
    {
      required: false,
      nullable: true,
      must: `must be a whole number from 0 to ${LONGEST_LIST}`,
      test: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_LIST,
    },
    {
      type: 'integer',
      minimum: 0,
      maximum: LONGEST_LIST,
      description: 'Shows only so many of the newest. Null: as usual.',
    },
  )
  newest?: number | null;

  @Flag('Whether the list stays as it is now.') frozen?: boolean;

  @WordList(
    {
      required: false,
      must: 'must be a list of types of this list',
      test: (value) =>
        Array.isArray(value) &&
        value.length <= MOST_TYPES &&
        value.every((one) => KNOWN_TYPES.includes(one as string)),
    },
    {
      items: { type: 'string', maxLength: 20 },
      maxItems: MOST_TYPES,
      description: 'Types that the list leaves out.',
      example: ['momo'],
    },
  )
  without_types?: string[];
}

@NotForwarded()
export class NewEntryDto {
  @OneOf(ENTRY_TYPES, 'Kind of entry. No transaction explains it.', { required: true })
  type!: (typeof ENTRY_TYPES)[number];

  @OneOf(WALLETS, 'Wallet of the account that the proxy pays from.', { required: true }) wallet!: string;

  @field(
    {
      required: true,
      must: `must be a number of US dollars from ${LEAST_USD} to ${MOST_USD}`,
      test: (value) => typeof value === 'number' && value >= LEAST_USD && value <= MOST_USD,
    },
    {
      type: 'number',
      minimum: LEAST_USD,
      maximum: MOST_USD,
      description: 'Amount in US dollars.',
      example: 0.5,
    },
  )
  usd!: number;
}

const NUMBERS = { type: 'object', additionalProperties: { type: 'integer' } } as const;
const WORDS = { type: 'object', additionalProperties: { type: 'string' } } as const;

class ShownListDto {
  @nullable(INTEGER, 'Only so many of the newest are shown. Null: as usual.') newest!: number | null;
  @nullable(INSTANT, 'Freezes the list at this time. Null: live.') frozen_at!: string | null;
  @described({ type: [String] }, 'Types that it leaves out.') without_types!: string[];
}

/** The sandbox's lies. Faults are separate, because they affect single requests. */
export class SandboxLiesDto {
  @described(NUMBER, 'Percent of each payout that is charged as a fee.') fee_percent!: number;
  @ApiProperty({ description: 'Whether the fee comes back with the value of a payout.' })
  returns_fee!: boolean;
  @described(NUMBERS, 'Milliseconds until a transaction is listed, by its type.')
  listed_after_ms!: Record<string, number>;
  @ApiProperty({
    type: 'object',
    additionalProperties: WORDS,
    description: 'Words that are shown instead of true statuses, by place: `listed`, `answered`, `events`.',
  })
  words!: Record<(typeof PLACES)[number], Record<string, string>>;
  @described({ type: ShownListDto }, 'The list of transactions.') transactions!: ShownListDto;
  @described({ type: ShownListDto }, 'The entries of each wallet.') entries!: ShownListDto;
}
