import { FreeForm } from '../../http/validation/free-form';
import { IdempotencyKey, OneOf } from '../../http/validation/rules/query-rules';
import { field, NotForwarded, Text } from '../../http/validation/rules/rules';
import { OPERATION_NAMES, OperationName } from '../../operations/catalogue/catalogue';
import { BOOLEAN, described, INTEGER, nullable, NUMBER, TEXT, UUID } from '../../platform/schema/fields';
import { Figure, SandboxLiesDto } from './lies.dto';
import { SAMPLE_OPERATIONS } from './samples';

const FREE = { type: 'object', additionalProperties: true };

export class SandboxWalletDto {
  @described(TEXT, 'ID of the account, the `receiver` of transfers.') account_id!: string;
  @described({ ...TEXT, example: 'Demo account' }, 'Name of the account.') account!: string;
  @nullable(TEXT, "ID of the parent account. The first account without a parent is the proxy's.")
  parent_id!: string | null;
  @described({ enum: ['chi', 'momo', 'airtime'] }, 'Name of the wallet.') wallet!: string;
  @described({ enum: ['USD'] }, 'Currency of the wallet.') currency!: 'USD';
  @described({ ...TEXT, pattern: '^\\d+(\\.\\d+)?$', example: '9998.5' }, 'Balance of the wallet.')
  balance!: string;
}

export class SandboxFaultDto {
  @described(INTEGER, 'ID of the fault.') id!: number;
  @described({ ...TEXT, example: 'noResponse' }, 'Kind of fault.') fault!: string;
  @nullable(TEXT, 'Affected operation. Null affects all.') operation!: string | null;
  @nullable(INTEGER, 'Number of the only affected matching request.') nth!: number | null;
  @nullable(NUMBER, 'Chance of affecting a matching request. Null affects all, unless `nth` is set.')
  probability!: number | null;
  @nullable(INTEGER, 'Seed of the random sequence.') seed!: number | null;
  @described(BOOLEAN, 'Whether the operation is still carried out.') processed!: boolean;
  @described({ type: 'object', additionalProperties: { type: 'number' } }, 'Settings of the fault, by name.')
  settings!: Record<string, number>;
  @described(INTEGER, 'Number of affected requests.') struck!: number;
}

class FaultSettingDto {
  @described({ ...TEXT, example: 'ms' }, 'Name in `settings`.') name!: string;
  @described(NUMBER, 'Default value.') default!: number;
  @described(
    { ...TEXT, example: 'a whole number from 0 to 600000' },
    'Allowed values, as the end of a sentence.',
  )
  must!: string;
}

export class FaultKindDto {
  @described({ ...TEXT, example: 'noResponse' }, 'Name of the kind.') fault!: string;
  @described(TEXT, 'Its effect on a request.') does!: string;
  @described(BOOLEAN, 'Whether the operation is carried out by default.') processed!: boolean;
  @described(BOOLEAN, 'Whether `processed` can be set.') chooses_processed!: boolean;
  @described({ type: [FaultSettingDto] }, 'Settings of the kind.') settings!: FaultSettingDto[];
}

export class MagicRecipientDto {
  @described({ ...TEXT, example: 'reversed' }, 'Name of the magic recipient.') name!: string;
  @described(TEXT, 'Phone number. Only the last eight digits matter.') phone_number!: string;
  @described(TEXT, 'Email address.') email!: string;
  @described(TEXT, 'Handle.') twitter!: string;
  @described(TEXT, 'Effect on a payout to it, or on the request.') does!: string;
}

export class SampleDto {
  @described({ enum: [...SAMPLE_OPERATIONS] }, 'Operation of the sample.') operation!: OperationName;
  @described({ ...TEXT, example: 'Pay out airtime to phone numbers' }, 'Title of the sample.') title!: string;
  @described(FREE, 'A valid body.') body!: object;
}

export class SandboxDto {
  @described({ ...TEXT, example: 'http://127.0.0.1:4010' }, 'Address of the sandbox.') url!: string;
  @described({ type: [SandboxWalletDto] }, "Wallets by account, oldest first, from the sandbox's own ledger.")
  wallets!: SandboxWalletDto[];
  @described({ type: [SandboxFaultDto] }, 'Active faults, oldest first.') faults!: SandboxFaultDto[];
  @described({ type: SandboxLiesDto }, 'Lies of the sandbox.') lies!: SandboxLiesDto;
  @described({ type: [FaultKindDto] }, 'Kinds of faults.') kinds!: FaultKindDto[];
  @described({ type: [MagicRecipientDto] }, 'Recipients with a fixed behavior.')
  magic_recipients!: MagicRecipientDto[];
  @described({ type: [SampleDto] }, 'One sample for each operation that creates transactions.')
  samples!: SampleDto[];
}

@NotForwarded()
export class NewFaultDto {
  @Text({ max: 50, description: 'One of `kinds`.', example: 'noResponse' }) fault!: string;

  @OneOf(OPERATION_NAMES, 'Affected operation. Default: all.') operation?: string;

  @Figure(1_000_000, { type: 'integer', minimum: 1, description: 'Number of the only affected request.' })
  nth?: number;

  @Figure(1, { type: 'number', minimum: 0, description: 'Chance of affecting a matching request.' })
  probability?: number;

  @Figure(2 ** 32 - 1, { type: 'integer', minimum: 0, description: 'Seed of the random sequence.' })
  seed?: number;

  @field(
    { required: false, must: 'must be true or false', test: (value) => typeof value === 'boolean' },
    {
      type: 'boolean',
      description: 'Whether the operation is carried out. Only for kinds with `chooses_processed`.',
    },
  )
  processed?: boolean;

  @FreeForm('Settings of the kind, by name.', { example: { ms: 500 } }) settings?: object;
}

@NotForwarded()
export class NewSampleDto {
  @OneOf(SAMPLE_OPERATIONS, 'Operation to send.', { required: true }) operation!: OperationName;

  @FreeForm('Body of the request.', {
    required: true,
    example: { airtimes: [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: 1.5 }] },
  })
  body!: object;

  @IdempotencyKey('Key of the request. Default: a new key. An earlier key returns a replay.')
  idempotency_key?: string;
}

export class SampleAnswerDto {
  @described(UUID, 'ID of the record, or of the replayed call.') call_id!: string;
  @described({ type: 'integer', example: 200 }, 'HTTP status that the app received.') status!: number;
  @described(BOOLEAN, 'Whether the response is a replay of an earlier call.') replayed!: boolean;
  @described(TEXT, 'Idempotency-Key of the request.') idempotency_key!: string;
  @described(
    { anyOf: [FREE, { type: 'array', items: {} }, TEXT] },
    'Body that the app received. Text if it is not JSON.',
  )
  body!: unknown;
}
