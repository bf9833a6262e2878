import { ApiProperty } from '@nestjs/swagger';
import { OPERATION_NAMES, OperationName } from '../../operations/catalogue';
import { FreeForm } from '../../http/validation/free-form';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { IdempotencyKey, OneOf } from '../../http/validation/query-rules';
import { field, Text } from '../../http/validation/rules';
import { SAMPLE_OPERATIONS } from './samples';

const described = (description: string, schema: object) => ApiProperty({ description, ...schema });
const orNull = (description: string, schema: object) => described(description, { anyOf: [schema, { type: 'null' }] });
const TEXT = { type: 'string' };
const FREE = { type: 'object', additionalProperties: true };

export class SandboxWalletDto {
  @described("Whose it is: the account's id, which a transfer names as its `receiver`.", TEXT) account_id!: string;
  @described("The account's name.", { ...TEXT, example: 'Demo account' }) account!: string;
  @orNull('The id of the account that it is a sub-account of; the first account without is ours.', TEXT)
  parent_id!: string | null;
  @described('Which of its wallets.', { enum: ['chi', 'momo', 'airtime'] }) wallet!: string;
  @described('Its currency.', { enum: ['USD'] }) currency!: 'USD';
  @described('What it holds.', { ...TEXT, pattern: '^\\d+(\\.\\d+)?$', example: '9998.5' }) balance!: string;
}

export class SandboxFaultDto {
  @described('Its id.', { type: 'integer' }) id!: number;
  @described('Its kind.', { ...TEXT, example: 'noResponse' }) fault!: string;
  @orNull('Whom it strikes; null: any operation.', TEXT) operation!: string | null;
  @orNull('It strikes once, the nth matching request; null: not by count.', { type: 'integer' }) nth!: number | null;
  @orNull('It strikes each matching request with this chance; null, and no `nth`: every one.', { type: 'number' })
  probability!: number | null;
  @orNull('What decides the sequence of chances.', { type: 'integer' }) seed!: number | null;
  @described('Whether the operation is carried out all the same.', { type: 'boolean' }) processed!: boolean;
  @described('Its own settings, by name.', { type: 'object', additionalProperties: { type: 'number' } })
  settings!: Record<string, number>;
  @described('How many requests it has struck.', { type: 'integer' }) struck!: number;
}

export class FaultSettingDto {
  @described('Its name in `settings`.', { ...TEXT, example: 'ms' }) name!: string;
  @described('What it is when left out.', { type: 'number' }) default!: number;
  @described('What it must be, as the end of a sentence.', { ...TEXT, example: 'a whole number from 0 to 600000' })
  must!: string;
}

export class FaultKindDto {
  @described('Its name.', { ...TEXT, example: 'noResponse' }) fault!: string;
  @described('What the sandbox does to a request that it strikes.', TEXT) does!: string;
  @described('Whether the operation is carried out, unless told otherwise.', { type: 'boolean' }) processed!: boolean;
  @described('Whether it can be told otherwise.', { type: 'boolean' }) chooses_processed!: boolean;
  @ApiProperty({ type: [FaultSettingDto], description: 'Its own settings.' }) settings!: FaultSettingDto[];
}

export class MagicRecipientDto {
  @described('Its name.', { ...TEXT, example: 'reversed' }) name!: string;
  @described('A phone number of its; the last eight digits are what counts.', TEXT) phone_number!: string;
  @described('Its e-mail address.', TEXT) email!: string;
  @described('Its handle.', TEXT) twitter!: string;
  @described('What becomes of a payout to it, or what the sandbox does to the request.', TEXT) does!: string;
}

export class SampleDto {
  @described('What it asks for.', { enum: [...SAMPLE_OPERATIONS] }) operation!: OperationName;
  @described('What it is, in a few words.', { ...TEXT, example: 'Pay out airtime to phone numbers' }) title!: string;
  @described('A body that the operation takes.', FREE) body!: object;
}

export class SandboxDto {
  @described('Where the sandbox is.', { ...TEXT, example: 'http://127.0.0.1:4010' }) url!: string;
  @ApiProperty({ type: [SandboxWalletDto], description: "By account, the oldest first; the sandbox's own truth." })
  wallets!: SandboxWalletDto[];
  @ApiProperty({ type: [SandboxFaultDto], description: 'Those that are on, the oldest first.' })
  faults!: SandboxFaultDto[];
  @ApiProperty({ type: [FaultKindDto], description: 'The kinds of fault that can be switched on.' })
  kinds!: FaultKindDto[];
  @ApiProperty({ type: [MagicRecipientDto], description: 'Recipients that make things happen without a fault.' })
  magic_recipients!: MagicRecipientDto[];
  @ApiProperty({ type: [SampleDto], description: 'One of each operation that samples can be sent of.' })
  samples!: SampleDto[];
}

/** A number that the sandbox is told; it judges the rest itself. */
const Figure = (
  name: string,
  most: number,
  schema: { type: 'integer' | 'number'; minimum: number; description: string },
) =>
  field(
    {
      name,
      required: false,
      must: `must be a ${schema.type === 'integer' ? 'whole number' : 'number'} from ${schema.minimum} to ${most}`,
      test: (value) =>
        typeof value === 'number' &&
        value >= schema.minimum &&
        value <= most &&
        (schema.type === 'number' || Number.isInteger(value)),
    },
    { ...schema, maximum: most },
  );

@NotForwarded()
export class NewFaultDto {
  @Text({ max: 50, description: 'One of `kinds`.', example: 'noResponse' })
  fault!: string;

  @OneOf(OPERATION_NAMES, 'Whom it strikes; left out: any operation.')
  operation?: string;

  @Figure('nth', 1_000_000, { type: 'integer', minimum: 1, description: 'Strikes once: the nth matching request.' })
  nth?: number;

  @Figure('probability', 1, { type: 'number', minimum: 0, description: 'Strikes each matching request so likely.' })
  probability?: number;

  @Figure('seed', 2 ** 32 - 1, { type: 'integer', minimum: 0, description: 'Decides which ones, with `probability`.' })
  seed?: number;

  @field(
    { name: 'processed', required: false, must: 'must be true or false', test: (value) => typeof value === 'boolean' },
    { type: 'boolean', description: 'Whether the operation is carried out, where the kind `chooses_processed`.' },
  )
  processed?: boolean;

  @FreeForm("The kind's own settings, by name.", { example: { ms: 500 } })
  settings?: object;
}

@NotForwarded()
export class NewSampleDto {
  @OneOf(SAMPLE_OPERATIONS, 'What to send.', { required: true })
  operation!: OperationName;

  @FreeForm('The body, as the operation takes it.', {
    required: true,
    example: { airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1.5 }] },
  })
  body!: object;

  @IdempotencyKey('Of the request; left out: a new one. One that was sent before shows what a replay gets.')
  idempotency_key?: string;
}

export class SampleAnswerDto {
  @described('The id of the record, or of the call that it repeats.', { ...TEXT, format: 'uuid' }) call_id!: string;
  @described('The HTTP status that the app got.', { type: 'integer', example: 200 }) status!: number;
  @described('Whether it is the answer of an earlier call with the same key, once more.', { type: 'boolean' })
  replayed!: boolean;
  @described('The Idempotency-Key that was sent.', TEXT) idempotency_key!: string;
  @described('The body that the app got; as text where it is no JSON.', {
    anyOf: [FREE, { type: 'array', items: {} }, TEXT],
  })
  body!: unknown;
}
