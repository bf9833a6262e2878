import { MAX_COOL_OFF_SECONDS, MAX_DUPLICATE_DAYS, readUsd } from '../../access/clients/limit-fields';
import { CLIENT_KINDS, ClientKind } from '../../access/clients/client-kind';
import { Limits } from '../../access/clients/limits';
import { Providers } from '../../access/clients/providers';
import { Account, Instant, OneOf } from '../../http/validation/query-rules';
import { Text } from '../../http/validation/rules';
import { NotForwarded, Nothing } from '../../http/validation/nothing.dto';
import {
  ClientName,
  ClientOperations,
  ClientScopes,
  CountLimit,
  KeyPerson,
  Subject,
  ListLimit,
  NewDailyCap,
  SwitchLimit,
  UsdLimit,
} from './client-rules';

import { ProviderDto, providerIn } from './provider.dto';

type Usd = string | number | null;

const Reason = () =>
  Text({ max: 1_000, required: false, description: 'Reason for the change, which is recorded.', example: 'Case 17' });

const Expiry = () =>
  Instant('Expiry of the key. If omitted, the key expires in a year. Null: never.', { nullable: true });

const DAILY_CAP = 'Daily cap in US dollars, from midnight to midnight UTC.';

/** The providers and the limits of a client except its daily cap. Null removes a limit. */
class ClientLimitsDto extends ProviderDto {
  @UsdLimit('monthlyCapUsd', 'Monthly cap in US dollars, per calendar month in UTC.')
  monthly_cap_usd?: Usd;

  @UsdLimit('maxItemUsd', 'Largest amount of one item in US dollars, more than 0.')
  max_item_usd?: Usd;

  @UsdLimit('maxCallUsd', 'Largest total of one call in US dollars, more than 0.')
  max_call_usd?: Usd;

  @UsdLimit('approvalOverUsd', 'Approval threshold per call in US dollars.')
  approval_over_usd?: Usd;

  @UsdLimit('approvalOverRecipientDayUsd', 'Approval threshold per recipient and day (UTC) in US dollars.')
  approval_over_recipient_day_usd?: Usd;

  @UsdLimit('approvalOverDayUsd', 'Approval threshold for the total of a day (UTC) in US dollars.')
  approval_over_day_usd?: Usd;

  @UsdLimit('maxRecipientDayUsd', 'Largest total per recipient and day (UTC) in US dollars, more than 0.')
  max_recipient_day_usd?: Usd;

  @CountLimit(
    'holdDuplicatesDays',
    'Days in which the same amount to the same recipient needs an approval.',
    MAX_DUPLICATE_DAYS,
  )
  hold_duplicates_days?: number | null;

  @CountLimit('maxItems', 'Limit of items per call.')
  max_items?: number | null;

  @CountLimit('requestsPerMinute', 'Limit of requests per minute, over all its keys.')
  requests_per_minute?: number | null;

  @ListLimit('countries', 'Countries that it may pay to. Empty: any.', ['Kenya', 'Nigeria'])
  countries?: string[] | null;

  @ListLimit('addresses', 'IP addresses and CIDR blocks that it may call from. Empty: any.', ['10.0.0.0/8'])
  addresses?: string[] | null;

  @ListLimit('origins', 'Web origins whose pages may call (CORS), as browsers send them. Empty: none.', [
    'https://shop.example',
  ])
  origins?: string[] | null;

  @SwitchLimit('requireIdempotencyKey', 'Whether payments and writes without the header Idempotency-Key are rejected.')
  require_idempotency_key?: boolean;

  @SwitchLimit('beneficiariesOnly', 'Whether it pays only recipients of its register.')
  beneficiaries_only?: boolean;

  @CountLimit(
    'beneficiaryCoolOffSeconds',
    'Seconds in which payouts to a newly registered recipient need an approval.',
    MAX_COOL_OFF_SECONDS,
  )
  beneficiary_cool_off_seconds?: number | null;

  @UsdLimit('personDailyCapUsd', 'Daily cap of each person in US dollars, UTC.')
  person_daily_cap_usd?: Usd;

  @UsdLimit('personMonthlyCapUsd', 'Monthly cap of each person in US dollars, UTC.')
  person_monthly_cap_usd?: Usd;

  @UsdLimit('personMaxItemUsd', 'Largest amount of one item of a person in US dollars, more than 0.')
  person_max_item_usd?: Usd;

  @CountLimit('personRequestsPerMinute', 'Limit of requests per person and minute.')
  person_requests_per_minute?: number | null;
}

@NotForwarded()
export class CreateClientDto extends ClientLimitsDto {
  @ClientName() name!: string;
  @Account('Its account at the upstream, which it keeps. Default: `main`.') account?: string;
  @OneOf(CLIENT_KINDS, 'Its kind, which it keeps. Default: `server`.')
  kind?: ClientKind;
  @ClientScopes({ required: true }) scopes!: string[];
  @ClientOperations() operations?: string[] | null;
  @NewDailyCap(`${DAILY_CAP} Required for clients that may pay or redeem. Null: none.`) daily_cap_usd?: Usd;
  @KeyPerson() person?: string;
  @Expiry() expires_at?: string | null;
  @Reason() reason?: string;
}

/** Fields that are left out do not change. */
@NotForwarded()
export class ChangeClientDto extends ClientLimitsDto {
  @ClientScopes({ required: false }) scopes?: string[];
  @ClientOperations() operations?: string[] | null;
  @UsdLimit('dailyCapUsd', DAILY_CAP) daily_cap_usd?: Usd;
  @Reason() reason?: string;
}

@NotForwarded()
export class IssueKeyDto extends Nothing {
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

/** Returns the limits and the providers that a body names. */
export function limitsIn(dto: CreateClientDto | ChangeClientDto): Partial<Limits & Providers> {
  const { require_idempotency_key: requireIdempotencyKey, beneficiaries_only: beneficiariesOnly } = dto;
  const { beneficiary_cool_off_seconds: beneficiaryCoolOffSeconds } = dto;
  return {
    ...providerIn(dto),
    ...(dto.daily_cap_usd !== undefined && { dailyCapUsd: amount(dto.daily_cap_usd) }),
    ...(dto.monthly_cap_usd !== undefined && { monthlyCapUsd: amount(dto.monthly_cap_usd) }),
    ...(dto.max_item_usd !== undefined && { maxItemUsd: amount(dto.max_item_usd) }),
    ...(dto.max_call_usd !== undefined && { maxCallUsd: amount(dto.max_call_usd) }),
    ...(dto.approval_over_usd !== undefined && { approvalOverUsd: amount(dto.approval_over_usd) }),
    ...(dto.approval_over_recipient_day_usd !== undefined && {
      approvalOverRecipientDayUsd: amount(dto.approval_over_recipient_day_usd),
    }),
    ...(dto.approval_over_day_usd !== undefined && { approvalOverDayUsd: amount(dto.approval_over_day_usd) }),
    ...(dto.max_recipient_day_usd !== undefined && { maxRecipientDayUsd: amount(dto.max_recipient_day_usd) }),
    ...(dto.hold_duplicates_days !== undefined && { holdDuplicatesDays: dto.hold_duplicates_days }),
    ...(dto.max_items !== undefined && { maxItems: dto.max_items }),
    ...(dto.requests_per_minute !== undefined && { requestsPerMinute: dto.requests_per_minute }),
    ...(dto.countries !== undefined && { countries: dto.countries ?? [] }),
    ...(dto.addresses !== undefined && { addresses: dto.addresses ?? [] }),
    ...(dto.origins !== undefined && { origins: dto.origins ?? [] }),
    ...(requireIdempotencyKey !== undefined && { requireIdempotencyKey }),
    ...(beneficiariesOnly !== undefined && { beneficiariesOnly }),
    ...(beneficiaryCoolOffSeconds !== undefined && { beneficiaryCoolOffSeconds }),
    ...(dto.person_daily_cap_usd !== undefined && { personDailyCapUsd: amount(dto.person_daily_cap_usd) }),
    ...(dto.person_monthly_cap_usd !== undefined && { personMonthlyCapUsd: amount(dto.person_monthly_cap_usd) }),
    ...(dto.person_max_item_usd !== undefined && { personMaxItemUsd: amount(dto.person_max_item_usd) }),
    ...(dto.person_requests_per_minute !== undefined && { personRequestsPerMinute: dto.person_requests_per_minute }),
  };
}

function amount(usd: Usd) {
  return readUsd(usd) ?? null;
}
