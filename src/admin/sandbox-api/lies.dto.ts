import { ApiProperty } from '@nestjs/swagger';
import { OneOf } from '../../http/validation/rules/query-rules';
import { field, NotForwarded, Text, WordList } from '../../http/validation/rules/rules';
import { BOOLEAN, described, INSTANT, INTEGER, nullable, NUMBER } from '../../platform/schema/fields';

/** A numeric setting. This rule checks its range, and the sandbox checks the rest. */
export const Figure = (
  most: number,
  schema: { type: 'integer' | 'number'; minimum: number; description: string },
) =>
  field(
    {
      required: false,
      must: `must be a ${schema.type === 'integer' ? 'whole ' : ''}number from ${schema.minimum} to ${most}`,
      test: (value) =>
        typeof value === 'number' &&
        value >= schema.minimum &&
        value <= most &&
        (schema.type === 'number' || Number.isInteger(value)),
    },
    { ...schema, maximum: most },
  );

/** Types that the sandbox can omit or delay, by list. */
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
const WORD_LOCATIONS = ['listed', 'answered', 'events'] as const;
export const ENTRY_TYPES = ['top_up', 'withdrawal', 'fee'] as const;
const STATUSES = ['paid', 'pending', 'failed', 'reversed', 'refunded', 'expired', 'redeemed', 'unpaid'];
const WALLETS = ['airtime', 'momo', 'chi'];
const KNOWN_TYPES: string[] = [...LISTED_TYPES.transactions, ...LISTED_TYPES.entries];
const MAX_TYPES = 20;
const MAX_DELAY_MS = 600_000;
const MAX_LIST = 1_000_000;
const MIN_USD = 0.01;
const MAX_USD = 1_000_000;

const Flag = (description: string) =>
  field(
    { required: false, must: 'must be true or false', test: (value) => typeof value === 'boolean' },
    { type: 'boolean', description },
  );

@NotForwarded()
export class FeesDto {
  @Figure(100, { type: 'number', minimum: 0, description: 'Percent of each later payout.' }) percent?: number;

  @Flag('Whether failed, reversed and refunded payouts return the fee.') returned?: boolean;
}

@NotForwarded()
export class ListingDelayDto {
  @OneOf(LISTED_TYPES.transactions, 'Type of transaction.', { required: true })
  type!: (typeof LISTED_TYPES.transactions)[number];

  @Figure(MAX_DELAY_MS, {
    type: 'integer',
    minimum: 0,
    description: 'Delay of the listing. Default: 0.',
  })
  ms?: number;
}

@NotForwarded()
export class StatusWordDto {
  @OneOf(WORD_LOCATIONS, 'Location of the word: lists, responses of other operations, or events.', {
    required: true,
  })
  shown_in!: (typeof WORD_LOCATIONS)[number];

  @OneOf(STATUSES, 'The true status.', { required: true }) status!: string;

  @Text({
    max: 50,
    required: false,
    description: 'Word for the status. Default: the true one.',
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
      must: `must be a whole number from 0 to ${MAX_LIST}`,
      test: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_LIST,
    },
    {
      type: 'integer',
      minimum: 0,
      maximum: MAX_LIST,
      description: 'Caps the list at this many newest entries. Null lists all.',
    },
  )
  newest?: number | null;

  @Flag('Whether to freeze the list.') frozen?: boolean;

  @WordList(
    {
      required: false,
      must: 'must be a list of types of this list',
      test: (value) =>
        Array.isArray(value) &&
        value.length <= MAX_TYPES &&
        value.every((type) => KNOWN_TYPES.includes(type as string)),
    },
    {
      items: { type: 'string', maxLength: 20 },
      maxItems: MAX_TYPES,
      description: 'Types that the list omits.',
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
      must: `must be a number of US dollars from ${MIN_USD} to ${MAX_USD}`,
      test: (value) => typeof value === 'number' && value >= MIN_USD && value <= MAX_USD,
    },
    {
      type: 'number',
      minimum: MIN_USD,
      maximum: MAX_USD,
      description: 'Amount in US dollars.',
      example: 0.5,
    },
  )
  usd!: number;
}

const NUMBERS = { type: 'object', additionalProperties: { type: 'integer' } } as const;
const WORDS = { type: 'object', additionalProperties: { type: 'string' } } as const;

class ShownListDto {
  @nullable(INTEGER, 'Caps the list at this many newest entries. Null lists all.') newest!: number | null;
  @nullable(INSTANT, 'Freezes the list at this time. Null for a live list.') frozen_at!: string | null;
  @described({ type: [String] }, 'Types that the list omits.') without_types!: string[];
}

/** The sandbox's lies. Faults are separate, because they affect single requests. */
export class SandboxLiesDto {
  @described(NUMBER, 'Fee in percent of each payout.') fee_percent!: number;
  @described(BOOLEAN, 'Whether failed, reversed and refunded payouts return the fee.') returns_fee!: boolean;
  @described(NUMBERS, 'Delay of the listing in milliseconds, by type of transaction.')
  listed_after_ms!: Record<string, number>;
  @ApiProperty({
    type: 'object',
    additionalProperties: WORDS,
    description: 'Words instead of true statuses, by location: `listed`, `answered`, `events`.',
  })
  words!: Record<(typeof WORD_LOCATIONS)[number], Record<string, string>>;
  @described({ type: ShownListDto }, 'The list of transactions.') transactions!: ShownListDto;
  @described({ type: ShownListDto }, 'The entries of each wallet.') entries!: ShownListDto;
}
