import { LIMIT_KEYS, textOf } from '../../access/clients/limits/limits';
import { CLIENT_KINDS, ClientKind } from '../../access/clients/listed';
import { RequestedLimits, requestedLimit, withLimits } from '../../http/validation/rules/limit-properties';
import { Account, Instant, OneOf } from '../../http/validation/rules/query-rules';
import { NotForwarded, NoProperties, Text } from '../../http/validation/rules/rules';
import { ClientName, ClientOperations, ClientScopes, KeyPerson, NewDailyCap, Subject } from './client-rules';
import { ProviderDto } from './provider.dto';

type Usd = string | number | null;

const Reason = () =>
  Text({
    max: 1_000,
    required: false,
    description: 'Reason for the record.',
    example: 'Case 17',
  });

const Expiry = () =>
  Instant('Expiry of the key. Defaults to a year. Null never expires.', { nullable: true });

const EXCEPT_DAILY_CAP = LIMIT_KEYS.filter((key) => key !== 'dailyCapUsd');

/** Providers and limits of a client, except its daily cap. */
class ClientLimitsDto extends withLimits<ProviderDto, Omit<RequestedLimits, 'daily_cap_usd'>>(
  ProviderDto,
  EXCEPT_DAILY_CAP,
  requestedLimit,
) {}

@NotForwarded()
export class CreateClientDto extends ClientLimitsDto {
  @ClientName() name!: string;
  @Account('Immutable account at the upstream. Default: `main`.') account?: string;
  @OneOf(CLIENT_KINDS, 'Immutable kind. Default: `server`.') kind?: ClientKind;
  @ClientScopes({ required: true }) scopes!: string[];
  @ClientOperations() operations?: string[] | null;
  @NewDailyCap(`${textOf('dailyCapUsd')} Required for clients that may pay or redeem. Null sets none.`)
  daily_cap_usd?: Usd;
  @KeyPerson() person?: string;
  @Expiry() expires_at?: string | null;
  @Reason() reason?: string;
}

/** A change of a client. Omitted fields stay unchanged. */
@NotForwarded()
export class ChangeClientDto extends ClientLimitsDto {
  @ClientScopes({ required: false }) scopes?: string[];
  @ClientOperations() operations?: string[] | null;
  @requestedLimit('dailyCapUsd') daily_cap_usd?: Usd;
  @Reason() reason?: string;
}

@NotForwarded()
export class IssueKeyDto extends NoProperties {
  @Expiry() expires_at?: string | null;
  @KeyPerson() person?: string;
  @Reason() reason?: string;
}

@NotForwarded()
export class AllowSignInDto {
  @KeyPerson({ required: true }) person!: string;
  @Subject() subject!: string;
  @Expiry() expires_at?: string | null;
  @Reason() reason?: string;
}

export class RevocationDto {
  @Reason() reason?: string;
}
