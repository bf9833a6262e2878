import { UpstreamAccount } from '../../gateway/upstream/upstream-account';
import { BOOLEAN, COUNT, described, INSTANT, nullable, TEXT } from '../../platform/schema/fields';

/** Health of an account, as the answering instance has observed it since its start. */
export class AccountHealth {
  @described({ type: [String] }, 'Operations with an open circuit. Only probes are sent for now.')
  open_circuits!: string[];
  @nullable(INSTANT, 'Time of the last response to a forwarded request.')
  last_answered_at!: Date | null;
  @nullable(INSTANT, 'Time of the last failure: no connection, a timeout, a cut response, or a server error.')
  last_failure_at!: Date | null;
}

export class AccountDto extends AccountHealth {
  @described({ ...TEXT, example: 'main' }, 'Name of the account.') name!: string;
  @described(BOOLEAN, 'Whether this instance has the account. If not, it rejects payouts of its clients.')
  configured!: boolean;
  @nullable(TEXT, 'Base URL of the account.') base_url!: string | null;
  @nullable(TEXT, 'Sub-account that requests act for.') sub_account!: string | null;
  @nullable(TEXT, 'Wallet that transfers take from.') wallet!: string | null;
  @described(BOOLEAN, 'Whether the account has a secret for events.') accepts_events!: boolean;
  @described(COUNT, 'Number of clients.') clients!: number;
}

export class AccountsDto {
  @described({ type: [AccountDto] }, '`main` first.') accounts!: AccountDto[];
}

export function healthOf(account: UpstreamAccount): AccountHealth {
  const { openCircuits, lastAnsweredAt, lastFailureAt } = account.health.read();
  return { open_circuits: openCircuits, last_answered_at: lastAnsweredAt, last_failure_at: lastFailureAt };
}
