import { ApiProperty } from '@nestjs/swagger';
import { OPERATION_NAMES, OperationName } from '../../operations/catalogue';
import { FreeForm } from '../../http/validation/free-form';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { IdempotencyKey, OneOf } from '../../http/validation/query-rules';
import { field, Text } from '../../http/validation/rules';
import { Figure } from './figure';
import { SandboxLiesDto } from './lies.dto';
import { SAMPLE_OPERATIONS } from './samples';

const described = (description: string, schema: object) => ApiProperty({ description, ...schema });
const orNull = (description: string, schema: object) => described(description, { anyOf: [schema, { type: 'null' }] });
const TEXT = { type: 'string' };
const FREE = { type: 'object', additionalProperties: true };

export class SandboxWalletDto {
  @described('ID of the account. Transfers name it as their `receiver`.', TEXT) account_id!: string;
  @described('Name of the account.', { ...TEXT, example: 'Demo account' }) account!: string;
  @orNull("ID of the parent account. The first account without a parent is the proxy's.", TEXT)
  parent_id!: string | null;
  @described('Name of the wallet.', { enum: ['chi', 'momo', 'airtime'] }) wallet!: string;
  @described('Currency of the wallet.', { enum: ['USD'] }) currency!: 'USD';
  @described('Balance of the wallet.', { ...TEXT, pattern: '^\\d+(\\.\\d+)?$', example: '9998.5' }) balance!: string;
}

export class SandboxFaultDto {
  @described('ID of the fault.', { type: 'integer' }) id!: number;
  @described('Kind of fault.', { ...TEXT, example: 'noResponse' }) fault!: string;
  @orNull('Operation that it affects. Null: all.', TEXT) operation!: string | null;
  @orNull('It affects only the nth matching request. Null: not by count.', { type: 'integer' }) nth!: number | null;
  @orNull('Chance that it affects a matching request. Null without `nth`: all.', { type: 'number' })
  probability!: number | null;
  @orNull('Seed of the random sequence.', { type: 'integer' }) seed!: number | null;
  @described('Whether the operation is still carried out.', { type: 'boolean' }) processed!: boolean;
  @described('Settings of the fault, by name.', { type: 'object', additionalProperties: { type: 'number' } })
  settings!: Record<string, number>;
  @described('Number of affected requests.', { type: 'integer' }) struck!: number;
}

class FaultSettingDto {
  @described('Name in `settings`.', { ...TEXT, example: 'ms' }) name!: string;
  @described('Default value.', { type: 'number' }) default!: number;
  @described('Allowed values, as the end of a sentence.', { ...TEXT, example: 'a whole number from 0 to 600000' })
  must!: string;
}

export class FaultKindDto {
  @described('Name of the kind.', { ...TEXT, example: 'noResponse' }) fault!: string;
  @described('Its effect on a request.', TEXT) does!: string;
  @described('Whether the operation is carried out by default.', { type: 'boolean' }) processed!: boolean;
  @described('Whether `processed` can be set.', { type: 'boolean' }) chooses_processed!: boolean;
  @ApiProperty({ type: [FaultSettingDto], description: 'Settings of the kind.' }) settings!: FaultSettingDto[];
}

export class MagicRecipientDto {
  @described('Name of the magic recipient.', { ...TEXT, example: 'reversed' }) name!: string;
  @described('A phone number. Only the last eight digits matter.', TEXT) phone_number!: string;
  @described('Its email address.', TEXT) email!: string;
  @described('Its handle.', TEXT) twitter!: string;
  @described('Effect on a payout to it, or on the request.', TEXT) does!: string;
}

export class SampleDto {
  @described('Operation of the sample.', { enum: [...SAMPLE_OPERATIONS] }) operation!: OperationName;
  @described('Title of the sample.', { ...TEXT, example: 'Pay out airtime to phone numbers' }) title!: string;
  @described('A valid body.', FREE) body!: object;
}

export class SandboxDto {
  @described('Address of the sandbox.', { ...TEXT, example: 'http://127.0.0.1:4010' }) url!: string;
  @ApiProperty({
    type: [SandboxWalletDto],
    description: "Wallets by account, oldest first, from the sandbox's own ledger.",
  })
  wallets!: SandboxWalletDto[];
  @ApiProperty({ type: [SandboxFaultDto], description: 'Active faults, oldest first.' })
  faults!: SandboxFaultDto[];
  @ApiProperty({ type: SandboxLiesDto, description: 'What the sandbox lies about.' }) lies!: SandboxLiesDto;
  @ApiProperty({ type: [FaultKindDto], description: 'Kinds of fault that can be switched on.' })
  kinds!: FaultKindDto[];
  @ApiProperty({ type: [MagicRecipientDto], description: 'Recipients with a fixed behavior.' })
  magic_recipients!: MagicRecipientDto[];
  @ApiProperty({ type: [SampleDto], description: 'One sample for each operation that has samples.' })
  samples!: SampleDto[];
}

@NotForwarded()
export class NewFaultDto {
  @Text({ max: 50, description: 'One of `kinds`.', example: 'noResponse' })
  fault!: string;

  @OneOf(OPERATION_NAMES, 'Operation to affect. Default: all.')
  operation?: string;

  @Figure('nth', 1_000_000, { type: 'integer', minimum: 1, description: 'Affects only the nth matching request.' })
  nth?: number;

  @Figure('probability', 1, { type: 'number', minimum: 0, description: 'Chance to affect a matching request.' })
  probability?: number;

  @Figure('seed', 2 ** 32 - 1, { type: 'integer', minimum: 0, description: 'Seed of the random sequence.' })
  seed?: number;

  @field(
    { name: 'processed', required: false, must: 'must be true or false', test: (value) => typeof value === 'boolean' },
    { type: 'boolean', description: 'Whether the operation is carried out. Only for kinds with `chooses_processed`.' },
  )
  processed?: boolean;

  @FreeForm('Settings of the kind, by name.', { example: { ms: 500 } })
  settings?: object;
}

@NotForwarded()
export class NewSampleDto {
  @OneOf(SAMPLE_OPERATIONS, 'Operation to send.', { required: true })
  operation!: OperationName;

  @FreeForm('Body of the request.', {
    required: true,
    example: { airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1.5 }] },
  })
  body!: object;

  @IdempotencyKey('Key of the request. Default: a new key. Send an earlier key to see a replay.')
  idempotency_key?: string;
}

export class SampleAnswerDto {
  @described('ID of the record, or of the call that was replayed.', { ...TEXT, format: 'uuid' }) call_id!: string;
  @described('HTTP status that the app received.', { type: 'integer', example: 200 }) status!: number;
  @described('Whether the answer of an earlier call with this key was replayed.', { type: 'boolean' })
  replayed!: boolean;
  @described('Idempotency-Key that was sent.', TEXT) idempotency_key!: string;
  @described('Body that the app received. Text if it is not JSON.', {
    anyOf: [FREE, { type: 'array', items: {} }, TEXT],
  })
  body!: unknown;
}
