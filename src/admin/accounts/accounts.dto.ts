import { ApiProperty } from '@nestjs/swagger';
import { UpstreamAccount } from '../../gateway/upstream/upstream-account';

const text = (description: string, example: string) => ApiProperty({ type: 'string', description, example });
const orNull = (description: string, schema: object) => ApiProperty({ anyOf: [schema, { type: 'null' }], description });
const TEXT = { type: 'string' };
const INSTANT = { type: 'string', format: 'date-time' };

/** The state of an account, as the answering instance has seen it since its start. Other instances may differ. */
export class AccountHealth {
  @ApiProperty({
    type: [String],
    description: 'Operations whose requests mostly failed. Only probes are sent for now.',
  })
  open_circuits!: string[];
  @orNull('When it last answered a forwarded request. Null if it has not.', INSTANT)
  last_answered_at!: Date | null;
  @orNull(
    'When a request last failed: no connection, a timeout, an interrupted answer, or a server error. Null if none has.',
    INSTANT,
  )
  last_failure_at!: Date | null;
}

export class AccountDto extends AccountHealth {
  @text('Name of the account.', 'main') name!: string;
  @ApiProperty({
    type: 'boolean',
    description: 'Whether this instance knows it. If not, it rejects the payouts of its clients.',
  })
  configured!: boolean;
  @orNull('Its base address.', TEXT) base_url!: string | null;
  @orNull('The sub-account that its requests are carried out for.', TEXT) sub_account!: string | null;
  @orNull('The wallet that transfers take from.', TEXT) wallet!: string | null;
  @ApiProperty({ type: 'boolean', description: 'Whether it has a secret for events.' }) accepts_events!: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Number of clients.' }) clients!: number;
}

export class AccountsDto {
  @ApiProperty({ type: [AccountDto], description: '`main` first.' }) accounts!: AccountDto[];
}

export function healthOf(account: UpstreamAccount): AccountHealth {
  const { openCircuits, lastAnsweredAt, lastFailureAt } = account.health.read();
  return { open_circuits: openCircuits, last_answered_at: lastAnsweredAt, last_failure_at: lastFailureAt };
}
