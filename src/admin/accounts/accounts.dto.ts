import { UpstreamAccount } from '../../gateway/upstream/upstream-account';
import { BOOLEAN, COUNT, described, INSTANT, nullable, TEXT } from '../../platform/schema/fields';

/**
 * The state of an account, as observed by the answering instance since its startup. Other instances may
 * differ.
 */
export class AccountHealth {
  @described({ type: [String] }, 'Operations whose requests mostly failed. Only probes are sent for now.')
  open_circuits!: string[];
  @nullable(INSTANT, 'When it last answered a forwarded request. Null if it has not.')
  last_answered_at!: Date | null;
  @nullable(
    INSTANT,
    'When a request last failed: no connection, a timeout, an interrupted answer, or a server error. ' +
      'Null if none has.',
  )
  last_failure_at!: Date | null;
}

export class AccountDto extends AccountHealth {
  @described({ ...TEXT, example: 'main' }, 'Name of the account.') name!: string;
  @described(BOOLEAN, 'Whether this instance knows it. If not, it rejects the payouts of its clients.')
  configured!: boolean;
  @nullable(TEXT, 'Its base address.') base_url!: string | null;
  @nullable(TEXT, 'The sub-account that its requests are carried out for.') sub_account!: string | null;
  @nullable(TEXT, 'The wallet that transfers take from.') wallet!: string | null;
  @described(BOOLEAN, 'Whether it has a secret for events.') accepts_events!: boolean;
  @described(COUNT, 'Number of clients.') clients!: number;
}

export class AccountsDto {
  @described({ type: [AccountDto] }, '`main` first.') accounts!: AccountDto[];
}

export function healthOf(account: UpstreamAccount): AccountHealth {
  const { openCircuits, lastAnsweredAt, lastFailureAt } = account.health.read();
  return { open_circuits: openCircuits, last_answered_at: lastAnsweredAt, last_failure_at: lastFailureAt };
}
