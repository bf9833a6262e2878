import { ApiProperty } from '@nestjs/swagger';
import { readUsd } from '../../access/clients/limit-fields';
import { OwnLimits } from '../../access/people/person-exceptions';
import { ListedPerson } from '../../access/people/person-exceptions.service';
import { nextPageToken, PageRequest } from '../../platform/schema/page';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { PageSize, PageToken } from '../../http/validation/query-rules';
import { Text } from '../../http/validation/rules';
import { UsageDto } from '../limits/cap';
import { CountLimit, UsdLimit } from './client-rules';

type Usd = string | number | null;

const MAX_NAME = 255;
const MAX_ISSUER = 500;

const text = (description: string, more: object = {}) => ApiProperty({ type: 'string', description, ...more });
const orNull = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });
const USD = { pattern: '^\\d+(\\.\\d+)?$' };
const INSTANT = { format: 'date-time' };

export class PersonSearch implements PageRequest {
  @Text({ max: MAX_NAME, required: false, description: 'Name of the person, exactly.' }) name?: string;
  @PageSize() page_size?: number;
  @PageToken() page_token?: string;
}

/** The own limits of a person. Null: the client's. Fields that are left out do not change. */
@NotForwarded()
export class ChangePersonDto {
  @UsdLimit('dailyCapUsd', 'Null: the default.') daily_cap_usd?: Usd;
  @UsdLimit('monthlyCapUsd', 'Null: the default.')
  monthly_cap_usd?: Usd;

  @UsdLimit('maxItemUsd', 'Null: the default.') max_item_usd?: Usd;
  @CountLimit('requestsPerMinute', 'Null: the default.')
  requests_per_minute?: number | null;

  @Text({ max: 1_000, required: false, description: 'Reason for the change, which is recorded.', example: 'Case 17' })
  reason?: string;
}

@NotForwarded()
export class LimitPersonDto extends ChangePersonDto {
  @Text({ max: MAX_NAME, description: 'Subject at the provider, or the name that the app uses.' })
  name!: string;

  @Text({ max: MAX_ISSUER, required: false, description: 'Its provider, if any.' })
  issuer?: string;
}

/** A person with the person's own limits. Null: the client's. */
export class PersonDto implements ListedPerson {
  @text('ID of the person, as records have it.', { format: 'uuid' }) id!: string;
  @orNull('string', 'Subject or name. Contacts are masked. Null: erased.') name!: string | null;
  @orNull('string', 'Its provider, if any.') issuer!: string | null;
  @text('When it was first seen.', INSTANT) first_seen_at!: Date;
  @orNull('string', 'When its credentials were revoked.', INSTANT) revoked_at!: Date | null;
  @orNull('string', 'Daily cap in US dollars.', USD) daily_cap_usd!: string | null;
  @orNull('string', 'Monthly cap in US dollars.', USD)
  monthly_cap_usd!: string | null;

  @orNull('string', 'Limit per item in US dollars.', USD) max_item_usd!: string | null;
  @orNull('integer', 'Limit of requests per minute.')
  requests_per_minute!: number | null;

  @ApiProperty({ type: UsageDto, description: "Spending against its caps, or the client's." }) usage!: UsageDto;
}

export class PersonsDto {
  @ApiProperty({ type: [PersonDto], description: 'Newest first.' }) persons!: PersonDto[];
  @nextPageToken() next_page_token!: string | null;
}

/** Returns the limits that a body names. */
export function ownLimitsIn(dto: ChangePersonDto): Partial<OwnLimits> {
  return {
    ...(dto.daily_cap_usd !== undefined && { dailyCapUsd: amount(dto.daily_cap_usd) }),
    ...(dto.monthly_cap_usd !== undefined && { monthlyCapUsd: amount(dto.monthly_cap_usd) }),
    ...(dto.max_item_usd !== undefined && { maxItemUsd: amount(dto.max_item_usd) }),
    ...(dto.requests_per_minute !== undefined && { requestsPerMinute: dto.requests_per_minute }),
  };
}

function amount(usd: Usd) {
  return readUsd(usd) ?? null;
}
